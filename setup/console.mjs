import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { filesUnder } from './build.mjs';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';
import { makeStampedFolder } from './stamped-folder.mjs';

/** The pages of the room, by what they are called in `pages.json`. */
const pages = { element: 'src/console/page/element-page.tsx' };

/** Scripts that pages of others load, under names that never change. */
const scripts = { 'elements.js': 'src/console/embed/elements-script.ts' };

/** The oldest browsers that the pages are written for. */
const browsers = ['chrome109', 'edge109', 'firefox115', 'safari16.4'];

/**
 * Bundles the pages of `src/console` into dist/console/, if they are missing or their sources, their dependencies or this
 * file changed: checks their types, gives each file a name by its content, and compresses it beside itself. What the
 * pages load is in dist/console/pages.json.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function buildConsole(root, say) {
	const sources = filesUnder(root, 'src/console').sort();
	const files = [...sources, 'package-lock.json', 'tsconfig.json', 'setup/console.mjs'];
	const made = await makeStampedFolder(root, 'dist/console', files, async (making) => {
		await Promise.all([checkTypes(root), bundle(root, making)]);
	});
	say(made ? 'bundled' : 'up to date');
}

async function checkTypes(root) {
	const compiler = join(root, 'node_modules/typescript/bin/tsc');
	const parameters = [compiler, '-p', 'src/console', '--pretty', 'false'];
	const { code, output } = await execute(process.execPath, parameters, { cwd: root });
	if (code !== 0) throw new SetupError(`The pages do not compile:\n${output.trim()}`);
}

async function bundle(root, folder) {
	const { build } = await import('esbuild');
	const common = {
		absWorkingDir: root,
		bundle: true,
		minify: true,
		target: browsers,
		jsx: 'automatic',
		jsxImportSource: 'preact',
		legalComments: 'none',
		charset: 'utf8',
		logLevel: 'silent',
		write: false,
	};
	mkdirSync(join(folder, 'assets'), { recursive: true });
	try {
		const found = {};
		for (const [name, entry] of Object.entries(pages)) {
			const names = { entryNames: `${name}-[hash]`, outdir: join(folder, 'assets') };
			const { outputFiles } = await build({ ...common, ...names, entryPoints: [entry], format: 'esm' });
			for (const { path, contents } of outputFiles) keep(path, contents);
			const file = (ending) => basename(outputFiles.find(({ path }) => path.endsWith(ending)).path);
			found[name] = { script: file('.js'), style: file('.css') };
		}
		for (const [name, entry] of Object.entries(scripts)) {
			const outfile = join(folder, name);
			const { outputFiles } = await build({ ...common, outfile, entryPoints: [entry], format: 'iife' });
			for (const { path, contents } of outputFiles) keep(path, contents);
		}
		writeFileSync(join(folder, 'pages.json'), JSON.stringify(found));
	} catch (error) {
		throw new SetupError(`The pages cannot be bundled:\n${error.message}`);
	}
}

/** Writes a file, and beside it what browsers would rather have. */
function keep(path, contents) {
	writeFileSync(path, contents);
	writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
	writeFileSync(`${path}.br`, brotliCompressSync(contents));
}
