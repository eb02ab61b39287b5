import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RegoFile } from '../model.js';
import { byCodeUnit } from '../order.js';

/** The hand-written part of every policy: the files of `policy/` without their tests, sorted by path. */
export async function readPolicyLibrary(): Promise<readonly RegoFile[]> {
	const root = join(packageRoot(), 'policy');
	const names = await readdir(root, { recursive: true });
	const paths = names
		.filter((name) => name.endsWith('.rego') && !name.endsWith('_test.rego'))
		.map((name) => name.replaceAll(sep, '/'))
		.sort(byCodeUnit);
	return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}

/** The nearest folder above this file that holds a package: the same for the source and for what is built from it. */
function packageRoot(): string {
	let folder = dirname(fileURLToPath(import.meta.url));
	while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) {
		folder = dirname(folder);
	}
	return folder;
}
