import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RegoFile } from '../model.js';
import { byCodeUnit } from '../order.js';
import { packageRoot } from './package-root.js';

/** The hand-written part of every policy: the files of `policy/` without their tests, sorted by path. */
export async function readPolicyLibrary(): Promise<readonly RegoFile[]> {
	const root = join(packageRoot, 'policy');
	const names = await readdir(root, { recursive: true });
	const paths = names
		.filter((name) => name.endsWith('.rego') && !name.endsWith('_test.rego'))
		.map((name) => name.replaceAll(sep, '/'))
		.sort(byCodeUnit);
	return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}
