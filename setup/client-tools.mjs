import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/**
 * Installs what the tests of the OpenAPI documents need besides, into `.tools/client`: its generator of clients needs
 * another TypeScript than we do, so it has a lock file of its own, in `test/client`.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 * @returns {Promise<string>} the folder
 */
export async function provideClientTools(root, say) {
	const folder = join(root, '.tools', 'client');
	const stamp = join(folder, 'installed');
	const files = ['package.json', 'package-lock.json'];
	const hash = createHash('sha256');
	for (const file of files) hash.update(readFileSync(join(root, 'test/client', file)));
	const wanted = hash.digest('hex');
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) {
		say('up to date');
		return folder;
	}
	say('installing with npm ci');
	rmSync(stamp, { force: true });
	mkdirSync(folder, { recursive: true });
	for (const file of files) copyFileSync(join(root, 'test/client', file), join(folder, file));
	const parameters = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
	const { code, output } = await execute('npm', parameters, { cwd: folder });
	if (code !== 0) {
		throw new SetupError(`npm could not install test/client (is the registry reachable?):\n${output.trim()}`);
	}
	writeFileSync(stamp, wanted);
	say('installed');
	return folder;
}
