import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs the opa that set-up provided, on the terminal of this process.
 * @param {string} opa its path
 * @param {readonly string[]} parameters
 * @returns {Promise<number>} its exit code
 */
export async function runOpa(opa, parameters) {
	const child = spawn(opa, parameters, { stdio: 'inherit' });
	// A terminal sends Ctrl-C to both processes. A SIGTERM to this one has to be passed on.
	process.on('SIGINT', () => {});
	process.on('SIGTERM', () => child.kill('SIGTERM'));
	const [code] = await once(child, 'close');
	return code ?? 1;
}
