import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFiles } from './digest.mjs';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/**
 * Installs a folder's locked dependencies with `npm ci`, if the dependencies are missing or `files` changed.
 * @param {string} folder the folder with `package-lock.json`
 * @param {readonly string[]} files relative to `folder`
 * @param {(detail: string) => void} say
 */
export async function npmCi(folder, files, say) {
	// npm deletes node_modules, including the stamp, before it installs.
	const stamp = join(folder, 'node_modules', '.regolith-lock');
	const wanted = digestFiles(folder, files);
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return say('up to date');
	say('installing with npm ci');
	// INVARIANT: development dependencies are installed regardless of NODE_ENV, because the TypeScript compiler is a
	// development dependency.
	const parameters = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
	const { code, output } = await execute('npm', parameters, { cwd: folder });
	if (code !== 0) {
		throw new SetupError(
			`npm could not install the dependencies of ${folder} (is the registry reachable?):\n${output.trim()}`,
		);
	}
	writeFileSync(stamp, wanted);
	say('installed');
}
