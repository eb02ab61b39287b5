/** A file in an archive: its path with slashes, and its text. */
export interface ArchivedFile {
	readonly path: string;
	readonly text: string;
}

const blockBytes = 512;
const encoder = new TextEncoder();

/** Header field offsets (POSIX.1-1988, ustar). */
const at = { name: 0, mode: 100, size: 124, time: 136, sum: 148, type: 156, magic: 257 } as const;
const maxNameBytes = 100;

/**
 * Creates a POSIX tar file. `seconds` is the modification time in seconds since 1970. Equal input gives equal bytes.
 */
export function tarArchive(files: readonly ArchivedFile[], seconds: number): Uint8Array<ArrayBuffer> {
	const blocks = files.flatMap(({ path, text }) => {
		const content = encoder.encode(text);
		const file = [header(path, '0', content.length, seconds), padded(content)];
		const isLong = encoder.encode(path).length > maxNameBytes;
		return isLong ? [...longName(path, seconds), ...file] : file;
	});
	return joined([...blocks, new Uint8Array(2 * blockBytes)]);
}

/** Creates a header. A long name is cut off. */
function header(path: string, type: '0' | 'x', size: number, seconds: number): Uint8Array {
	const block = new Uint8Array(blockBytes);
	const write = (offset: number, text: string) => block.set(encoder.encode(text), offset);
	block.set(encoder.encode(path).subarray(0, maxNameBytes), at.name);
	write(at.mode, '0000644\x000000000\x000000000\0');
	write(at.size, `${octal(size)}\0${octal(seconds)}\0`);
	// While the checksum is computed, its own field contains spaces.
	write(at.sum, '        ');
	write(at.type, type);
	write(at.magic, 'ustar\x0000');
	const sum = block.reduce((total, byte) => total + byte, 0);
	write(at.sum, `${sum.toString(8).padStart(6, '0')}\0 `);
	return block;
}

function octal(value: number): string {
	return value.toString(8).padStart(11, '0');
}

/**
 * Creates an extended header with the full name of the next entry. The header is a line that begins with its own
 * length.
 */
function longName(path: string, seconds: number): readonly Uint8Array[] {
	const rest = ` path=${path}\n`;
	const bytes = encoder.encode(rest).length;
	let length = bytes;
	while (length !== bytes + String(length).length) length = bytes + String(length).length;
	const content = encoder.encode(`${length}${rest}`);
	return [header('path', 'x', content.length, seconds), padded(content)];
}

function padded(content: Uint8Array): Uint8Array {
	const whole = new Uint8Array(Math.ceil(content.length / blockBytes) * blockBytes);
	whole.set(content);
	return whole;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
	const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
	let offset = 0;
	for (const part of parts) {
		whole.set(part, offset);
		offset += part.length;
	}
	return whole;
}
