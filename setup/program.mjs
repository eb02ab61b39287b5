import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder } from './build.mjs';
import { SetupError } from './progress.mjs';
import { makeStampedFolder } from './stamped-folder.mjs';

/**
 * Entry modules of the program: the command line, the impact process, and the threads for the database, patterns,
 * conditions, Rego differences and canonical JSON.
 */
const entries = {
	main: 'dist/src/main.js',
	worker: 'dist/src/store/database/embedded/worker.js',
	'pattern-worker': 'dist/src/pdp/gateway/pattern-worker.js',
	'condition-worker': 'dist/src/domain/preview/condition-worker.js',
	'rego-difference-worker': 'dist/src/transfer/rego-difference-worker.js',
	'canonical-worker': 'dist/src/publish/canonical-worker.js',
	'impact-worker': 'dist/src/impact/impact-worker.js',
};

/**
 * Bundles the compiled sources into dist/program/, with a file for each entry, if the folder is missing or the sources
 * changed. A bundle starts faster, because Node.js takes a millisecond to load each of several hundred modules.
 * Packages stay in node_modules.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function bundleProgram(root, say) {
	const compiled = ['dist/src', 'dist/compiler', 'dist/packages'].flatMap((folder) => filesUnder(root, folder));
	const files = [...compiled.filter((file) => file.endsWith('.js')).sort(), 'package-lock.json', 'setup/program.mjs'];
	const made = await makeStampedFolder(root, 'dist/program', files, (making) => bundle(root, making));
	say(made ? 'bundled' : 'up to date');
}

async function bundle(root, folder) {
	const { build } = await import('esbuild');
	try {
		await build({
			absWorkingDir: root,
			entryPoints: entries,
			outdir: folder,
			bundle: true,
			// Server code becomes a separate file, which the other commands do not load.
			splitting: true,
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
	// npm links this file as the program `regolith`.
	chmodSync(join(folder, 'main.js'), 0o755);
}
