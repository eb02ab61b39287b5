import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npmCi } from './npm-ci.mjs';

/**
 * Packages for tests with their own lock files: `client` has a generator of clients, which needs a different TypeScript
 * version than the project, and `filter` has databases and published clients of data filters.
 */
const folders = { client: 'test/client', filter: 'test/filter/clients' };

/**
 * Installs a set of packages into `.tools`.
 * @param {string} root the package's folder
 * @param {keyof typeof folders} name
 * @param {(detail: string) => void} say
 * @returns {Promise<string>} the folder
 */
export async function provideTestTools(root, name, say) {
	const folder = join(root, '.tools', name);
	const files = ['package.json', 'package-lock.json'];
	mkdirSync(folder, { recursive: true });
	for (const file of files) copyFileSync(join(root, folders[name], file), join(folder, file));
	await npmCi(folder, files, say);
	return folder;
}
