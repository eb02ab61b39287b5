/** The only place that runs `opa`: Rego text in, a compiled module or a verdict out. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import type { RegoFile } from '../model.js';
import { OpaFailure } from './failure.js';
import { runOpa } from './run.js';

export { readPolicyLibrary } from './library.js';
export { OpaFailure };

/** What a compiled module answers, by path. The hand-written policy defines all of them. */
export const entrypoints = [
	'regolith/check/code',
	'regolith/check/decision',
	'regolith/explain/sections',
	'regolith/listing/authorized_users',
	'regolith/listing/instance_permissions',
	'regolith/listing/user_permissions',
	'regolith/listing/user_tenants',
] as const;

/** Rego files and the path of the tool that reads them. */
export interface Source {
	/** Path of the `opa` executable. */
	readonly opa: string;
	/** Every file of the policy, hand-written ones and generated ones. */
	readonly files: readonly RegoFile[];
}

/**
 * Compiles Rego to WebAssembly. Equal files give equal bytes.
 * Never with `-O=1`: it takes data that comes later for absent and denies everything.
 * @returns the bytes of the bundle (tar.gz) that `opa build` wrote; the module is its `/policy.wasm`.
 * @throws OpaFailure when the files do not compile.
 */
export async function buildWasm({ opa, files }: Source): Promise<Uint8Array> {
	return inFolder(files, async (folder) => {
		const output = join(folder, 'bundle.tar.gz');
		const exported = entrypoints.flatMap((entrypoint) => ['--entrypoint', entrypoint]);
		await runOpa(
			opa,
			['build', '--target', 'wasm', '--optimize', '0', '--prune-unused', ...exported, '--output', output, '.'],
			rego(folder),
		);
		return readFile(output);
	});
}

/**
 * Holds the files against the strict rules and the one format of the language.
 * @throws OpaFailure with every finding in `stderr`.
 */
export async function checkRego({ opa, files }: Source): Promise<void> {
	await inFolder(files, async (folder) => {
		await runOpa(opa, ['check', '--strict', '.'], rego(folder));
		await runOpa(opa, ['fmt', '--list', '--fail', '.'], rego(folder));
	});
}

/**
 * The version of the tool, such as `1.22.0`.
 * @throws OpaFailure when it does not run or prints no version.
 */
export async function opaVersion(opa: string): Promise<string> {
	const { stdout, stderr } = await runOpa(opa, ['version'], tmpdir());
	const version = /^Version:\s*(\S+)/m.exec(stdout)?.[1];
	if (version === undefined) {
		throw new OpaFailure(`\`${opa} version\` printed no version`, stderr, 0);
	}
	return version;
}

/** Writes the files into a folder of their own, hands it on and removes it, whatever happens. */
async function inFolder<T>(files: readonly RegoFile[], use: (folder: string) => Promise<T>): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), 'regolith-'));
	try {
		await writeFiles(rego(folder), files);
		return await use(folder);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Where the files lie in the folder: apart from what the tool writes. */
function rego(folder: string): string {
	return join(folder, 'rego');
}

async function writeFiles(root: string, files: readonly RegoFile[]): Promise<void> {
	const paths = files.map((file) => join(root, file.path));
	const stray = paths.findIndex((path) => !path.startsWith(root + sep));
	if (stray !== -1) {
		throw new RangeError(`the path \`${files[stray]?.path}\` of a Rego file leads out of the policy`);
	}
	const folders = [...new Set([root, ...paths.map((path) => dirname(path))])];
	await inSlices(folders, (folder) => mkdir(folder, { recursive: true }));
	await inSlices(files, (file) => writeFile(join(root, file.path), file.text, { flag: 'wx' }));
}

/** Some at a time: one at a time is slow, and all at once may need more open files than a process gets. */
async function inSlices<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
	const size = 64;
	for (let start = 0; start < items.length; start += size) {
		await Promise.all(items.slice(start, start + size).map(run));
	}
}
