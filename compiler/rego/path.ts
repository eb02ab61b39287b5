import { literal } from './literal.js';
import { Fragment } from './rego.js';

/** Rego v1 keywords. `opa fmt` does not print them after a dot. */
const keywords: ReadonlySet<string> = new Set(
	'as contains default else every false if import in not null package some true with'.split(' '),
);

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Writes the package path part for a key, in `opa fmt` layout: `.document` or `["purchase-order"]`. */
export function packagePart(key: string): Fragment {
	return new Fragment(identifier.test(key) && !keywords.has(key) ? `.${key}` : `[${literal(key)}]`);
}

/**
 * Splits a long key into names of up to 100 characters. File systems allow 255 bytes per name, so other programs can
 * still append a suffix to a name.
 */
const names = /.{1,100}/g;

/** Suffix for all parts of a long key except the last part. A part without the suffix ends the key. */
const continued = '=';

/**
 * All characters with a possible special meaning in a file system or shell. Upper-case letters are unsafe too, because
 * some file systems ignore case.
 */
const unsafe = /[^a-z0-9_-]/g;

/** Device names in Windows, which reserves them. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Returns the folder name for a key. It is the key itself if all characters are safe. Otherwise each unsafe code unit
 * is replaced by `=` and four hexadecimal digits. Different keys have different folders, even on file systems that
 * ignore case. A long key becomes several folders.
 */
export function keyFolder(key: string): string {
	const name = key.replaceAll(unsafe, escapeCodeUnit);
	return (name.match(names) ?? ['='])
		.map((part) => (reserved.test(part) ? escapeCodeUnit(part) + part.slice(1) : part))
		.join(`${continued}/`);
}

/** Returns the first code unit of a string, escaped. */
function escapeCodeUnit(text: string): string {
	return `=${text.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
