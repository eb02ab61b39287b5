import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import type { RegoFile } from '../model.js';
import { sortedBy } from '../order.js';

/** Nothing that reads this archive looks at them, and equal files have equal ones. */
const attributes = { mode: 0o600, uid: 0, gid: 0, mtime: new Date(0), type: 'file' } as const;

/**
 * Packs files into a tar, sorted by path: `opa` reads one file sooner than thousands, and they are written sooner too.
 * Equal files give equal bytes, in any order.
 * @throws RangeError when a path leads out of the archive or is there twice.
 */
export async function archive(files: readonly RegoFile[]): Promise<Uint8Array> {
	const sorted = sortedBy(files, (file) => file.path);
	const wrong = sorted.find(({ path }, index) => leadsOut(path) || path === sorted[index + 1]?.path);
	if (wrong !== undefined) {
		throw new RangeError(`the path \`${wrong.path}\` of a Rego file leads out of the policy, or is there twice`);
	}
	const tar = pack();
	for (const { path, text } of sorted) {
		tar.entry({ ...attributes, name: path }, text);
	}
	tar.finalize();
	return buffer(tar);
}

function leadsOut(path: string): boolean {
	return path.startsWith('/') || path.split('/').includes('..');
}
