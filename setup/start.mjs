import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Runs `regolith start` in this process. A child process would need every signal forwarded, and would continue to run
 * if this process is killed. Without a child process, npm runs the program directly.
 * @param {string} root the package's folder
 * @param {readonly string[]} parameters
 */
export async function startProgram(root, parameters) {
	const main = join(root, 'dist/program/main.js');
	process.argv = [process.argv[0], main, 'start', ...parameters];
	process.setSourceMapsEnabled(true);
	absorbRepeatedSignals();
	await import(pathToFileURL(main).href);
}

/**
 * Under npm, each Ctrl-C arrives twice: from the terminal and from npm. Without a permanent listener, the second signal
 * would kill a program that listens only once. If the user presses Ctrl-C again later, or before the program listens,
 * the program ends immediately.
 */
function absorbRepeatedSignals() {
	const patience = 2000;
	let first;
	for (const signal of ['SIGINT', 'SIGTERM']) {
		process.on(signal, () => {
			const repeated = first !== undefined;
			first ??= performance.now();
			const unheard = !repeated && process.listenerCount(signal) === 1;
			if (unheard || performance.now() - first > patience) process.exit(signal === 'SIGINT' ? 130 : 143);
		});
	}
}
