import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/**
 * Installs the locked dependencies when they are missing or the lock file changed since they were installed.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function installDependencies(root, say) {
	const stamp = join(root, 'node_modules', '.regolith-lock');
	const wanted = createHash('sha256')
		.update(readFileSync(join(root, 'package-lock.json')))
		.digest('hex');
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return say('up to date');
	say('installing with npm ci');
	// INVARIANT: development dependencies too, whatever NODE_ENV says; the compiler is one of them.
	const { code, output } = await execute(
		'npm',
		['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
		{
			cwd: root,
		},
	);
	if (code !== 0) {
		throw new SetupError(`npm could not install the dependencies (is the registry reachable?):\n${output.trim()}`);
	}
	writeFileSync(stamp, wanted);
	say('installed');
}
