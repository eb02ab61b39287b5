import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RegoFile } from '../model.js';
import { byCodeUnit } from '../order.js';
import { packageRoot } from './package-root.js';

/** Reads the hand-written part of every policy: the files in `policy/regolith` without their tests, sorted by path. */
export function readPolicyLibrary(): Promise<readonly RegoFile[]> {
	return readRego('regolith');
}

/** Reads the packages for Data API clients of a stock OPA: the files in `policy/permit`. */
export function readAliases(): Promise<readonly RegoFile[]> {
	return readRego(aliasRoot);
}

/** Root package of the files from `readAliases`. */
export const aliasRoot = 'permit';

/** Reads the files below a `policy/` folder, with relative paths. */
async function readRego(folder: string): Promise<readonly RegoFile[]> {
	const policy = join(packageRoot, 'policy');
	const names = await readdir(join(policy, folder), { recursive: true });
	const paths = names
		.filter((name) => name.endsWith('.rego') && !name.endsWith('_test.rego'))
		.map((name) => `${folder}/${name.replaceAll(sep, '/')}`)
		.sort(byCodeUnit);
	return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(policy, path), 'utf8') })));
}
