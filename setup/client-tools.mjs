import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { npmCi } from './npm-ci.mjs';

/**
 * Installs the tools for the OpenAPI document tests into `.tools/client`. The client generator needs a different
 * TypeScript version than the project, so `test/client` has its own lock file.
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
