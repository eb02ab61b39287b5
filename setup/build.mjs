import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';

/** The folders whose TypeScript is compiled; tsconfig.json `include` says the same. */
const sourceFolders = ['compiler', 'src', 'packages', 'test', 'bench'];

/** What of them runs in browsers: `buildConsole` bundles it. tsconfig.json `exclude` says the same. */
const forBrowsers = /^src\/console\/(?:page|embed)\//;

/**
 * Compiles TypeScript into dist/ so that dist/ holds exactly what the sources give: nothing missing, nothing left over.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function buildTypeScript(root, say) {
	const dist = join(root, 'dist');
	const wanted = outputFiles(sourceFolders.flatMap((folder) => filesUnder(root, folder)));
	const present = sourceFolders.flatMap((folder) => filesUnder(dist, folder));
	// A test whose source was deleted must not run, nor may an import of a deleted module still resolve.
	const leftOver = present.filter((file) => !wanted.has(file));
	for (const file of leftOver) rmSync(join(dist, file));
	const known = new Set(present);
	// The compiler trusts its build info and does not check that its outputs exist.
	if ([...wanted].some((file) => !known.has(file))) rmSync(join(dist, '.tsbuildinfo'), { force: true });

	const compiler = join(root, 'node_modules/typescript/bin/tsc');
	const { code, output } = await execute(process.execPath, [compiler, '-p', root, '--pretty', 'false'], { cwd: root });
	if (code !== 0) throw new SetupError(`TypeScript does not compile:\n${output.trim()}`);
	say(leftOver.length > 0 ? `compiled, ${leftOver.length} old outputs removed` : 'compiled');
}

/**
 * The files that compiling these sources writes.
 * @param {readonly string[]} sources paths relative to the package
 * @returns {Set<string>} paths relative to dist/
 */
export function outputFiles(sources) {
	const stems = sources
		.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !forBrowsers.test(file))
		.map((file) => file.slice(0, -3));
	return new Set(stems.flatMap((stem) => [`${stem}.js`, `${stem}.js.map`]));
}

/**
 * The files below a folder.
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
