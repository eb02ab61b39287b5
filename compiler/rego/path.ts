import { literal } from './literal.js';
import { Fragment } from './rego.js';

/** Rego v1 keywords, which `opa fmt` does not print after a dot. */
const keywords: ReadonlySet<string> = new Set(
	'as contains default else every false if import in not null package some true with'.split(' '),
);

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Writes the package path part for a key, in `opa fmt` layout: `.document` or `["purchase-order"]`. */
export function packagePart(key: string): Fragment {
	return new Fragment(identifier.test(key) && !keywords.has(key) ? `.${key}` : `[${literal(key)}]`);
}

/** File systems allow 255 bytes per name; this leaves room for a reader's additions. */
const names = /.{1,100}/g;

/** Ends every part of a long key except the last, to mark the key's end. */
const continued = '=';

/**
 * All characters with a possible meaning to a file system or shell. Upper case is unsafe too, because some systems fold
 * cases.
 */
const unsafe = /[^a-z0-9_-]/g;

/** Device names in Windows. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Returns the folder of a key: the key itself if it is safe, else with `=` and four hexadecimal digits for each unsafe
 * code unit. Different keys have different folders, even on file systems that ignore case. A long key becomes several
 * folders.
 */
export function keyFolder(key: string): string {
	const name = key.replaceAll(unsafe, escapeCodeUnit);
	return (name.match(names) ?? ['='])
		.map((part) => (reserved.test(part) ? escapeCodeUnit(part) + part.slice(1) : part))
		.join(`${continued}/`);
}

/** Returns a text's first code unit, escaped. */
function escapeCodeUnit(text: string): string {
	return `=${text.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
