import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RegoFile } from '../model.js';
import { byCodeUnit } from '../order.js';
import { packageRoot } from './package-root.js';

/** The hand-written part of every policy: the files of `policy/regolith` without their tests, sorted by path. */
export function readPolicyLibrary(): Promise<readonly RegoFile[]> {
	return readRego('regolith');
}

/** The packages under which clients of OPA's Data API ask the policy, for a stock OPA: the files of `policy/permit`. */
export function readAliases(): Promise<readonly RegoFile[]> {
	return readRego(aliasRoot);
}

/** The root of the packages that `readAliases` gives. */
export const aliasRoot = 'permit';

/** The files below a folder of `policy/`, with paths from there. */
async function readRego(folder: string): Promise<readonly RegoFile[]> {
	const policy = join(packageRoot, 'policy');
	const names = await readdir(join(policy, folder), { recursive: true });
	const paths = names
		.filter((name) => name.endsWith('.rego') && !name.endsWith('_test.rego'))
		.map((name) => `${folder}/${name.replaceAll(sep, '/')}`)
		.sort(byCodeUnit);
	return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(policy, path), 'utf8') })));
}
