/** Reads tar files in POSIX format. Supports extended headers and GNU long names. */

/** A tar entry. Its content is a view on the tar's memory. */
export interface TarEntry {
	readonly name: string;
	/** `file`, `directory`, `symlink`, or an unsupported type. */
	readonly type: string;
	readonly content: Uint8Array;
}

const blockBytes = 512;
/** Header fields: offset and length in bytes. */
const field = { name: [0, 100], size: [124, 12], checksum: [148, 8], magic: [257, 5], prefix: [345, 155] } as const;
const typeAt = 156;
/** Entry types, keyed by flag. Entries of the first four types describe the next entry or all later entries. */
const kinds: Readonly<Record<string, string>> = {
	x: 'extended header',
	g: 'global header',
	L: 'long name',
	K: 'long link',
	'\0': 'file',
	'0': 'file',
	'7': 'file',
	'1': 'link',
	'2': 'symlink',
	'5': 'directory',
};

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Yields the entries in order. Throws an `Error` if the bytes are not a tar file, or are truncated. */
export function* tarEntries(tar: Uint8Array): Iterable<TarEntry> {
	let next: { readonly name?: string; readonly size?: number } = {};
	for (let at = 0; at < tar.length; ) {
		const header = tar.subarray(at, at + blockBytes);
		if (header.length < blockBytes) throw new Error('a header is truncated');
		at += blockBytes;
		if (header.every((byte) => byte === 0)) continue;
		checkSum(header);
		const flag = String.fromCharCode(header[typeAt] ?? 0);
		const type = kinds[flag] ?? `kind \`${flag}\``;
		const size = next.size ?? octal(header, 'size');
		if (size > tar.length - at) throw new Error('an entry is truncated');
		const content = tar.subarray(at, at + size);
		at += Math.ceil(size / blockBytes) * blockBytes;
		if (type === 'extended header') next = { ...next, ...readExtended(content) };
		else if (type === 'long name') next = { ...next, name: textUntilZero(content) };
		else if (type !== 'global header' && type !== 'long link') {
			yield { name: next.name ?? headerName(header), type, content };
			next = {};
		}
	}
}

/** Verifies the header checksum: the sum over all header bytes, with spaces instead of the checksum field. */
function checkSum(header: Uint8Array): void {
	const [start, length] = field.checksum;
	const sum = header.reduce((sum, byte, at) => sum + (at >= start && at < start + length ? 0x20 : byte), 0);
	if (sum !== octal(header, 'checksum')) throw new Error('the checksum of a header is wrong');
}

function octal(header: Uint8Array, name: 'size' | 'checksum'): number {
	const text = textIn(header, name).trim();
	if (!/^[0-7]+$/.test(text)) throw new Error(`the ${name} in a header is not an octal number`);
	return Number.parseInt(text, 8);
}

function headerName(header: Uint8Array): string {
	const prefix = textIn(header, 'magic') === 'ustar' ? textIn(header, 'prefix') : '';
	return prefix === '' ? textIn(header, 'name') : `${prefix}/${textIn(header, 'name')}`;
}

function textIn(header: Uint8Array, name: keyof typeof field): string {
	const [start, length] = field[name];
	return textUntilZero(header.subarray(start, start + length));
}

function textUntilZero(bytes: Uint8Array): string {
	const end = bytes.indexOf(0);
	return decoder.decode(end === -1 ? bytes : bytes.subarray(0, end));
}

/**
 * Returns the name and size in an extended header. Its lines are `<length> <key>=<value>`, where `<length>` is the
 * length of the whole line.
 */
function readExtended(content: Uint8Array): { readonly name?: string; readonly size?: number } {
	const found: { name?: string; size?: number } = {};
	for (let at = 0; at < content.length; ) {
		const space = content.indexOf(0x20, at);
		const length = Number(decoder.decode(content.subarray(at, space)));
		if (space === -1 || !Number.isSafeInteger(length) || length <= space - at || at + length > content.length) {
			throw new Error('an extended header is invalid');
		}
		const line = decoder.decode(content.subarray(space + 1, at + length - 1));
		const equals = line.indexOf('=');
		const value = line.slice(equals + 1);
		const key = line.slice(0, equals);
		if (key === 'path') found.name = value;
		if (key === 'size') found.size = readSize(value);
		at += length;
	}
	return found;
}

function readSize(value: string): number {
	const size = Number(value);
	if (!Number.isSafeInteger(size) || size < 0) throw new Error('the size of an entry is invalid');
	return size;
}
