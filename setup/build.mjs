import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFiles } from './digest.mjs';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/** Folders whose TypeScript is compiled; must match tsconfig.json `include`. */
const sourceFolders = ['compiler', 'src', 'packages', 'test', 'bench'];

/**
 * Source files that this step does not compile: `buildConsole` bundles the browser code, and a test compiles the calls
 * to generated clients. Must match tsconfig.json `exclude`.
 */
const elsewhere = /^(?:src\/console\/(?:app|embed|page|part)|test\/client\/calls)\//;

/** Build outputs in the same folders as their sources. Must match tsconfig.json `exclude`. */
const builtPackage = /^packages\/[^/]+\/dist\//;

/**
 * Compiles TypeScript into dist/, unless it is up to date. Afterwards, dist/ contains the outputs for all sources, and
 * nothing else.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function buildTypeScript(root, say) {
	const dist = join(root, 'dist');
	const sources = sourceFolders.flatMap((folder) => filesUnder(root, folder)).sort();
	const wanted = outputFiles(sources);
	const present = sourceFolders.flatMap((folder) => filesUnder(dist, folder));
	// A test whose source was deleted must not run, and an import of a deleted module must not resolve.
	const leftOver = present.filter((file) => !wanted.has(file));
	for (const file of leftOver) rmSync(join(dist, file));
	const known = new Set(present);
	// The compiler trusts its build info and does not check whether its outputs exist.
	const missing = [...wanted].some((file) => !known.has(file));
	if (missing) rmSync(join(dist, '.tsbuildinfo'), { force: true });
	const stamp = join(dist, '.sources');
	const compiled = sources.filter((file) => file.endsWith('.ts') && !builtPackage.test(file));
	const digest = digestFiles(root, [...compiled, 'package-lock.json', 'tsconfig.json']);
	const isCurrent = !missing && leftOver.length === 0 && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
	if (isCurrent) return say('up to date');

	// The compiler writes outputs even for sources with errors, so the old stamp must be removed first.
	rmSync(stamp, { force: true });
	const compiler = join(root, 'node_modules/typescript/bin/tsc');
	const { code, output } = await execute(process.execPath, [compiler, '-p', root, '--pretty', 'false'], { cwd: root });
	if (code !== 0) throw new SetupError(`TypeScript does not compile:\n${output.trim()}`);
	writeFileSync(stamp, digest);
	say(leftOver.length > 0 ? `compiled, ${leftOver.length} old outputs removed` : 'compiled');
}

/**
 * Returns the output files for these sources.
 * @param {readonly string[]} sources paths relative to the package
 * @returns {Set<string>} paths relative to dist/
 */
export function outputFiles(sources) {
	const stems = sources
		.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !elsewhere.test(file))
		.map((file) => file.slice(0, -3));
	return new Set(stems.flatMap((stem) => [`${stem}.js`, `${stem}.js.map`]));
}

/**
 * Lists the files below a folder.
 * @param {string} base
 * @param {string} folder below `base`
 * @returns {string[]} paths relative to `base`
 */
export function filesUnder(base, folder) {
	if (!existsSync(join(base, folder))) return [];
	return readdirSync(join(base, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		return entry.isDirectory() ? filesUnder(base, path) : [path];
	});
}
