import { literal } from './literal.js';
import { Fragment } from './rego.js';

/** The words of Rego v1 that `opa fmt` does not print after a dot. */
const keywords: ReadonlySet<string> = new Set(
	'as contains default else every false if import in not null package some true with'.split(' '),
);

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The part of a package path that names a key, as `opa fmt` prints it: `.document` or `["purchase-order"]`. */
export function packagePart(key: string): Fragment {
	return new Fragment(identifier.test(key) && !keywords.has(key) ? `.${key}` : `[${literal(key)}]`);
}

/** File systems take 255 bytes a name; this leaves room for what a reader adds. */
const names = /.{1,100}/g;

/** Ends every part of a long key but its last, so that it shows where the key ends. */
const continued = '=';

/**
 * All but the characters that mean nothing to any file system or shell. One case only, because some systems fold cases.
 */
const unsafe = /[^a-z0-9_-]/g;

/** Names that Windows keeps for devices. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The folder for a key: the key itself where that is safe, else with `=` and four hexadecimal digits for a code unit.
 * Different keys have different folders, on file systems that do not tell `a` from `A` too. A long key becomes several
 * folders.
 */
export function keyFolder(key: string): string {
	const name = key.replaceAll(unsafe, escapeCodeUnit);
	return (name.match(names) ?? ['='])
		.map((part) => (reserved.test(part) ? escapeCodeUnit(part) + part.slice(1) : part))
		.join(`${continued}/`);
}

/** The first code unit of a text, escaped. */
function escapeCodeUnit(text: string): string {
	return `=${text.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
