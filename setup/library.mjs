import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder } from './build.mjs';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';
import { makeStampedFolder } from './stamped-folder.mjs';

const folder = 'packages/engine';

/** Public type declarations. They import only each other. */
const declarations = ['index', 'api', 'filter', 'load-engine'];

/** Engine modules that have a second version without packages, because the library has no dependencies. */
const withPackages = /\/policy-instance\.js$/;

/** Engine modules that have a second version for runtimes other than Node.js. */
const twins = /\/(?:text-bytes|gunzip|sha256|policy-instance)\.js$/;

/**
 * Builds packages/engine/dist/ from the compiled sources, if the folder is missing or the sources changed. The folder
 * contains a file for Node.js, a file for browsers and edge runtimes, type declarations, and the licenses of bundled
 * packages.
 * @param {string} root the repository's folder
 * @param {(detail: string) => void} say
 */
export async function buildLibrary(root, say) {
	const made = await makeStampedFolder(root, `${folder}/dist`, sourceFiles(root), async (making) => {
		const [node, edge] = await Promise.all([
			bundle(root, 'index', join(making, 'node.js'), {
				platform: 'node',
				plugins: [englishAlone, undescribed, replaceByTwins(withPackages)],
			}),
			bundle(root, 'edge', join(making, 'edge.js'), {
				platform: 'neutral',
				minify: true,
				plugins: [englishAlone, undescribed, replaceByTwins(twins)],
			}),
			declare(root, making),
		]);
		writeFileSync(join(making, 'LICENSES.txt'), licences(root, [...node, ...edge]));
	});
	say(made ? 'bundled' : 'up to date');
}

/** Lists all source files for the package. */
function sourceFiles(root) {
	const compiled = [
		'dist/src/bundle',
		'dist/src/filter',
		'dist/src/pdp',
		'dist/src/wire',
		'dist/compiler',
		'dist/packages',
	]
		.flatMap((part) => filesUnder(root, part))
		.filter((file) => file.endsWith('.js'));
	const above = readdirSync(join(root, 'dist/src')).flatMap((file) =>
		file.endsWith('.js') ? [`dist/src/${file}`] : [],
	);
	const types = filesUnder(root, `${folder}/src`);
	return [...compiled, ...above, ...types, 'package-lock.json', 'setup/library.mjs'].sort();
}

/** Returns the plugin that replaces these modules with their second versions. */
function replaceByTwins(filter) {
	return {
		name: 'twins',
		setup(build) {
			build.onResolve({ filter }, ({ path, resolveDir }) => ({
				path: join(resolveDir, path.replace(/\.js$/, '-web.js')),
			}));
		},
	};
}

/** Keeps only the English zod messages. The messages in other languages make up half of zod. */
const englishAlone = {
	name: 'english-alone',
	setup(build) {
		build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
			contents: "export { default as en } from './en.js';",
		}));
	},
};

const text = /(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/.source;
const texts = `${text}(?:\\s*\\+\\s*${text})*`;
const described = new RegExp(
	`\\.describe\\(\\s*${texts},?\\s*\\)|\\.meta\\(\\{(?:\\s*(?:id|description):\\s*${texts},?)+\\s*\\}\\)`,
	'g',
);

/** Removes schema descriptions, which only the OpenAPI documents need. They make up a twentieth of the library. */
const undescribed = {
	name: 'undescribed',
	setup(build) {
		build.onLoad({ filter: /\/dist\/src\/wire\/[\w-]+\.js$/ }, ({ path }) => ({
			contents: readFileSync(path, 'utf8').replaceAll(described, ''),
		}));
	},
};

/**
 * Bundles an entry with all its imports.
 * @returns {Promise<string[]>} the bundled files
 */
async function bundle(root, entry, outfile, options) {
	const { build } = await import('esbuild');
	try {
		const { metafile } = await build({
			absWorkingDir: root,
			entryPoints: [`dist/${folder}/src/${entry}.js`],
			outfile,
			bundle: true,
			format: 'esm',
			target: 'es2022',
			mainFields: ['module', 'main'],
			legalComments: 'none',
			banner: { js: '/*! @regolith/engine, Apache-2.0. Bundled licenses: LICENSES.txt */' },
			charset: 'utf8',
			metafile: true,
			logLevel: 'silent',
			...options,
		});
		return Object.keys(metafile.inputs);
	} catch (error) {
		throw new SetupError(`The library cannot be bundled:\n${error.message}`);
	}
}

async function declare(root, making) {
	const compiler = join(root, 'node_modules/typescript/bin/tsc');
	const out = join(making, 'declarations');
	const parameters = [compiler, '-p', folder, '--outDir', out, '--pretty', 'false'];
	const { code, output } = await execute(process.execPath, parameters, { cwd: root });
	if (code !== 0) throw new SetupError(`The library's types cannot be declared:\n${output.trim()}`);
	for (const name of declarations) {
		copyFileSync(join(out, folder, 'src', `${name}.d.ts`), join(making, `${name}.d.ts`));
	}
	rmSync(out, { recursive: true });
}

/** Returns the licenses of the packages that contain these files. */
function licences(root, inputs) {
	const names = inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
	const texts = [...new Set(names)].sort().map((name) => {
		const { version, license } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
		const folder = join(root, 'node_modules', name);
		const file = readdirSync(folder).find((entry) => /^LICEN[CS]E(?:\.\w+)?$/.test(entry));
		if (file === undefined) throw new SetupError(`${name}, which is bundled, has no license file`);
		const text = readFileSync(join(folder, file), 'utf8').trim();
		return `${name} ${version} (${license})\n\n${text}\n`;
	});
	return `This package has no dependencies. Bundled in its files:\n\n${texts.join('\n')}`;
}
