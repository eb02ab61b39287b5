import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFiles } from './digest.mjs';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/**
 * Installs the locked dependencies of a folder with `npm ci`, when they are missing or these files changed since they
 * were installed.
 * @param {string} folder the one of `package-lock.json`
 * @param {readonly string[]} files relative to `folder`
 * @param {(detail: string) => void} say
 */
export async function npmCi(folder, files, say) {
	// npm deletes node_modules before it installs, and the stamp with it.
	const stamp = join(folder, 'node_modules', '.regolith-lock');
	const wanted = digestFiles(folder, files);
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return say('up to date');
	say('installing with npm ci');
	// INVARIANT: development dependencies too, whatever NODE_ENV says; the compiler is one of them.
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
