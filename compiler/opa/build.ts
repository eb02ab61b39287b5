/** Compiles and checks Rego with the `opa` command. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { RegoFile } from '../model.js';
import { archive } from './archive.js';
import { OpaFailure, OpaLate } from './failure.js';
import { type Output, type RunOptions, runOpa } from './run.js';

export { aliasRoot, readAliases, readPolicyLibrary } from './library.js';
export { ResidentCompiler, ResidentLost } from './resident.js';
export { opaVersion, rememberedVersion } from './version.js';
export { OpaFailure, OpaLate };

const compress = promisify(gzip);

/** Name of the program that setup builds: the part of OPA for compiling and testing policies. */
export const partOfOpa = 'regolith-opa';

/** Paths of the entrypoints in a compiled module. The hand-written policy defines all entrypoints. */
export const entrypoints = [
	'regolith/check/code',
	'regolith/check/decision',
	'regolith/explain/sections',
	'regolith/listing/authorized_users',
	'regolith/listing/instance_permissions',
	'regolith/listing/user_permissions',
	'regolith/listing/user_tenants',
] as const;

/** Rego files, and the path to the tool for processing them. */
export interface Source {
	/** Path to the `opa` executable. */
	readonly opa: string;
	/** Every policy file, hand-written and generated. */
	readonly files: readonly RegoFile[];
}

/**
 * Compiles Rego to WebAssembly. Equal files give equal bytes. Never uses `-O=1`: it treats data loaded later as absent,
 * so the module would deny everything.
 * @returns the bundle (tar.gz) from `opa build`; the module is its `/policy.wasm`.
 * @throws OpaFailure if the files do not compile.
 */
export async function buildWasm({ opa, files }: Source): Promise<Uint8Array> {
	// A local process reads the archive immediately, so better compression would only take longer.
	const source = await compress(await archive(files.map(({ path, text }) => ({ path, content: text }))), {
		level: constants.Z_BEST_SPEED,
	});
	return inFolder(async (folder) => {
		await writeFile(rego(folder), source);
		const output = join(folder, 'bundle.tar.gz');
		const exported = entrypoints.flatMap((entrypoint) => ['--entrypoint', entrypoint]);
		const argv = ['--target', 'wasm', '--optimize', '0', '--prune-unused', ...exported, '--output', output];
		// `opa` puts the archive name before the paths in its messages and in the module.
		await runOpa(opa, ['build', ...argv, '--bundle', basename(rego(folder))], folder);
		return readFile(output);
	});
}

/**
 * Checks the files with `opa check --strict` and `opa fmt`.
 * @throws OpaFailure with every finding in `stderr`.
 */
export async function checkRego({ opa, files }: Source): Promise<void> {
	await inFolder(async (folder) => {
		await writeFiles(rego(folder), files);
		await runOpa(opa, ['check', '--strict', '.'], rego(folder));
		await runOpa(opa, ['fmt', '--list', '--fail', '.'], rego(folder));
	});
}

/**
 * Runs the tool with these arguments in a folder that contains only the files.
 * @throws OpaFailure like `runOpa`.
 */
export async function runInRego({ opa, files }: Source, argv: readonly string[], options: RunOptions): Promise<Output> {
	return inFolder(async (folder) => {
		await writeFiles(rego(folder), files);
		return runOpa(opa, argv, rego(folder), options);
	});
}

/** Creates a folder, passes it to `use` and always removes it. */
async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), 'regolith-'));
	try {
		return await use(folder);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Returns the folder for the Rego files, separate from the tool's output. */
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
	await runInBatches(folders, (folder) => mkdir(folder, { recursive: true }));
	await runInBatches(files, (file) => writeFile(join(root, file.path), file.text, { flag: 'wx' }));
}

/**
 * Processes the items in batches. Processing one item at a time is slow, and processing all items in parallel may
 * exceed the process's open-file limit.
 */
async function runInBatches<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
	const size = 64;
	for (let start = 0; start < items.length; start += size) {
		await Promise.all(items.slice(start, start + size).map(run));
	}
}
