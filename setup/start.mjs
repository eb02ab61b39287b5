import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Becomes the program: `regolith start` runs in this very process. A child would need every signal passed on, and would
 * outlive this process if that is killed outright. This way nothing is between npm and the program.
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
 * Ctrl-C under npm arrives twice: from the terminal and from npm. Without a listener that stays, the second one would
 * kill a program that listens only once. When a person presses it again later, or while the program is not listening
 * yet, it ends the program at once.
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
