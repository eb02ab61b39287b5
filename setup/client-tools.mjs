import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npmCi } from './npm-ci.mjs';

/**
 * Installs what only the tests of the OpenAPI documents need into `.tools/client`. The generator of clients needs
 * another version of TypeScript than the project, so `test/client` has a lock file of its own.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 * @returns {Promise<string>} the folder
 */
export async function provideClientTools(root, say) {
	const folder = join(root, '.tools', 'client');
	const files = ['package.json', 'package-lock.json'];
	mkdirSync(folder, { recursive: true });
	for (const file of files) copyFileSync(join(root, 'test/client', file), join(folder, file));
	await npmCi(folder, files, say);
	return folder;
}
