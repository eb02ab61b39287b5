import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { filesUnder } from './build.mjs';
import { SetupError } from './progress.mjs';
import { makeStampedFolder } from './stamped-folder.mjs';

/** Console pages, keyed by their names in `pages.json`. */
const pages = {
	element: 'src/console/page/element-page.tsx',
	console: 'src/console/app/console-app.tsx',
};

/** Scripts for embedding pages, with stable names. */
const scripts = { 'elements.js': 'src/console/embed/elements-script.ts' };

/** Swagger UI files that the API reference loads (src/http/page.ts), and their license notices. */
const referenceFiles = [
	'swagger-ui.css',
	'swagger-ui-bundle.js',
	'favicon-32x32.png',
	'LICENSE',
	'NOTICE',
	'swagger-ui-bundle.js.LICENSE.txt',
];

/** Folders with the sources of the pages. */
export const sourceFolders = ['src/console', 'src/filter', 'docs/samples', 'compiler'];

/** Minimum browser versions for the pages. */
const browsers = ['chrome109', 'edge109', 'firefox115', 'safari16.4'];

/**
 * Bundles the pages in `src/console` into dist/console/, if the bundles are missing, or if the sources, the
 * dependencies or this file changed. Names each file by its content, and adds compressed copies.
 * dist/console/pages.json lists the files that each page loads. Does not check types (see setup/console-types.mjs).
 * Also copies Swagger UI to dist/console/reference/, so that the product does not need the Swagger UI package: this
 * package has a dependency whose install script reports to a third party.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function buildConsole(root, say) {
	const sources = sourceFolders.flatMap((folder) => filesUnder(root, folder)).sort();
	const files = [...sources, 'package-lock.json', 'tsconfig.json', 'setup/console.mjs'];
	const made = await makeStampedFolder(root, 'dist/console', files, async (making) => {
		await bundle(root, making);
		copyReference(root, join(making, 'reference'));
	});
	say(made ? 'bundled' : 'up to date');
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
			const { outputFiles, metafile } = await build({
				...common,
				entryPoints: [entry],
				entryNames: `${name}-[hash]`,
				chunkNames: `${name}-[hash]`,
				outdir: join(folder, 'assets'),
				format: 'esm',
				// Code for only some of the screens becomes separate files, which are loaded when these screens open.
				splitting: true,
				metafile: true,
			});
			for (const { path, contents } of outputFiles) keep(path, contents);
			const isEntry = ({ entryPoint }) => entryPoint === entry;
			const [script, { cssBundle }] = Object.entries(metafile.outputs).find(([, output]) => isEntry(output));
			const [first, style] = [basename(script), basename(cssBundle)];
			const names = outputFiles.map(({ path }) => basename(path));
			found[name] = { script: first, style, chunks: names.filter((file) => file !== first && file !== style) };
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

function copyReference(root, folder) {
	const installed = dirname(createRequire(join(root, 'package.json')).resolve('swagger-ui-dist/package.json'));
	mkdirSync(folder);
	for (const file of referenceFiles) copyFileSync(join(installed, file), join(folder, file));
}

/** Writes a file with compressed copies for browsers. */
function keep(path, contents) {
	writeFileSync(path, contents);
	writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
	writeFileSync(`${path}.br`, brotliCompressSync(contents));
}
