import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './progress.mjs';

/** What the program is made of: the command line, and what runs in threads: the embedded database, and patterns. */
const entries = {
	main: 'dist/src/main.js',
	worker: 'dist/src/store/database/embedded/worker.js',
	'pattern-worker': 'dist/src/pdp/pattern-worker.js',
};

/**
 * Bundles the compiled sources into dist/program/, a file an entry. Node.js takes a millisecond for each module that it
 * loads, and the sources are hundreds. Packages stay where they are installed.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function bundleProgram(root, say) {
	const { build } = await import('esbuild');
	try {
		await build({
			absWorkingDir: root,
			entryPoints: entries,
			outdir: 'dist/program',
			bundle: true,
			packages: 'external',
			platform: 'node',
			format: 'esm',
			target: 'node20',
			sourcemap: true,
			sourcesContent: false,
			charset: 'utf8',
			logLevel: 'silent',
		});
	} catch (error) {
		throw new SetupError(`The program cannot be bundled:\n${error.message}`);
	}
	// `npx regolith` starts this file as a program.
	chmodSync(join(root, 'dist/program/main.js'), 0o755);
	say('bundled');
}
