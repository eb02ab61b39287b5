import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/**
 * Provides Node.js in this major version, from the npm package with its binary.
 * @param {string} root the package's folder
 * @param {string} major
 * @param {(detail: string) => void} say
 * @returns {Promise<string>} the absolute program path
 */
export async function provideNode(root, major, say) {
	const name = `node-${process.platform}-${process.arch}`;
	const folder = join(root, '.tools', `node-${major}`);
	const program = join(folder, 'node_modules', name, 'bin', 'node');
	if (!existsSync(program)) {
		mkdirSync(folder, { recursive: true });
		const parameters = [
			'install',
			'--prefix',
			folder,
			'--no-audit',
			'--no-fund',
			'--loglevel=error',
			`${name}@${major}`,
		];
		const { code, output } = await execute('npm', parameters, { cwd: folder });
		if (code !== 0) throw new SetupError(`npm could not install Node.js ${major}:\n${output.trim()}`);
	}
	const { code, stdout, output } = await execute(program, ['--version']);
	if (code !== 0) throw new SetupError(`${program} does not run: ${output.trim()}`);
	say(stdout.trim());
	return program;
}
