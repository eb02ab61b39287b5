import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs the opa chosen by setup, with this process's terminal.
 * @param {string} opa its path
 * @param {readonly string[]} parameters
 * @returns {Promise<number>} its exit code
 */
export async function runOpa(opa, parameters) {
	const child = spawn(opa, parameters, { stdio: 'inherit' });
	// A terminal sends Ctrl-C to both processes, so this process ignores it. A SIGTERM must be forwarded.
	process.on('SIGINT', () => {});
	process.on('SIGTERM', () => child.kill('SIGTERM'));
	const [code] = await once(child, 'close');
	return code ?? 1;
}
