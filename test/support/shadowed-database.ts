import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { workerData } from 'node:worker_threads';

/**
 * Thread program for an embedded database. A second folder, `<path>.shadow`, gets only the synced content, so it
 * contains the files that would be left after a power cut. While `<path>.broken` exists, each sync fails. Needs
 * `/proc`.
 */

const { path }: { readonly path: string } = workerData;
const shadow = `${path}.shadow`;

fs.fsyncSync = (descriptor: number) => {
	if (fs.existsSync(`${path}.broken`)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
	const source = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
	if (!fs.existsSync(source)) return;
	const target = join(shadow, relative(path, source));
	if (fs.statSync(source).isDirectory()) return copyNames(source, target);
	fs.mkdirSync(dirname(target), { recursive: true });
	fs.copyFileSync(source, target);
};
syncBuiltinESMExports();

/** Copies the file names in a folder. A new file stays empty until it is synced. */
function copyNames(source: string, target: string): void {
	fs.mkdirSync(target, { recursive: true });
	const entries = fs.readdirSync(source, { withFileTypes: true });
	const names = new Set(entries.map(({ name }) => name));
	for (const name of fs.readdirSync(target)) {
		if (!names.has(name)) fs.rmSync(join(target, name), { recursive: true });
	}
	for (const entry of entries) {
		const copy = join(target, entry.name);
		if (fs.existsSync(copy)) continue;
		if (entry.isDirectory()) fs.mkdirSync(copy);
		else fs.writeFileSync(copy, '');
	}
}

await import('../../src/store/database/embedded/worker.js');
