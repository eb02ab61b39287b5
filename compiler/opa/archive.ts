import type { RegoFile } from '../model.js';
import { sortedBy } from '../order.js';

const block = 512;
/** A path of up to this many bytes has its place in the header of its file. */
const shortPath = 100;

/**
 * Packs files into a tar, sorted by path: `opa` reads one file sooner than thousands, and they are written sooner too.
 * Equal files give equal bytes, in any order.
 * @throws RangeError when a path leads out of the archive or is there twice.
 */
export function archive(files: readonly RegoFile[]): Uint8Array {
	const sorted = sortedBy(files, (file) => file.path);
	const wrong = sorted.find(({ path }, index) => leadsOut(path) || path === sorted[index + 1]?.path);
	if (wrong !== undefined) {
		throw new RangeError(`the path \`${wrong.path}\` of a Rego file leads out of the policy, or is there twice`);
	}
	const end = Buffer.alloc(2 * block);
	return Buffer.concat([...sorted.flatMap(({ path, text }) => entry(path, Buffer.from(text))), end]);
}

function leadsOut(path: string): boolean {
	return path.startsWith('/') || path.split('/').includes('..');
}

/** A file with its header; before them, where the path is long, a header of its own that holds it (POSIX pax). */
function entry(path: string, content: Buffer): readonly Buffer[] {
	if (Buffer.byteLength(path) <= shortPath) {
		return section(path, '0', content);
	}
	return [...section('path', 'x', extendedPath(path)), ...section('path', '0', content)];
}

function section(path: string, type: string, content: Buffer): readonly Buffer[] {
	return [header(path, type, content.length), content, Buffer.alloc(-content.length & (block - 1))];
}

/** The record counts its own length, decimal digits included. */
function extendedPath(path: string): Buffer {
	const rest = ` path=${path}\n`;
	const bytes = Buffer.byteLength(rest);
	const digits = String(bytes + String(bytes).length).length;
	return Buffer.from(`${bytes + digits}${rest}`);
}

/** The header of POSIX.1-1988 (ustar). Everything but the sum is what no reader of ours looks at, or the same for all. */
function header(path: string, type: string, size: number): Buffer {
	const bytes = Buffer.alloc(block);
	bytes.write(path, 0, shortPath);
	const fields = [
		[100, '0000600'],
		[124, size.toString(8).padStart(11, '0')],
		[136, '00000000000'],
		// While the sum is being taken, its own place counts as spaces.
		[148, '        '],
		[156, type],
		[257, 'ustar\u000000'],
	] as const;
	for (const [at, text] of fields) {
		bytes.write(text, at);
	}
	const sum = bytes.reduce((total, byte) => total + byte, 0);
	bytes.write(`${sum.toString(8).padStart(6, '0')}\0`, 148);
	return bytes;
}
