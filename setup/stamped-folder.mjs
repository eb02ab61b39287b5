import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { digestFiles } from './digest.mjs';

/**
 * Makes a folder, unless the folder's stamp shows that it was made from the same files. Fills the folder under a
 * temporary name and then renames it, so an interrupted build leaves no partial folder.
 * @param {string} root the repository's folder
 * @param {string} folder the folder to make, relative to `root`
 * @param {readonly string[]} files its source files, relative to `root`, always in the same order
 * @param {(making: string) => Promise<void>} make fills an empty folder
 * @returns {Promise<boolean>} true if it was made; false if it was up to date
 */
export async function makeStampedFolder(root, folder, files, make) {
	const built = join(root, folder);
	const stamp = join(built, 'stamp');
	const wanted = digestFiles(root, files);
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false;
	const making = join(root, 'dist', `${basename(dirname(built))}-${basename(built)}.${process.pid}`);
	mkdirSync(making, { recursive: true });
	try {
		await make(making);
		writeFileSync(join(making, 'stamp'), wanted);
		rmSync(built, { recursive: true, force: true });
		renameSync(making, built);
	} finally {
		rmSync(making, { recursive: true, force: true });
	}
	return true;
}
