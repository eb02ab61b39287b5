import { basename, dirname, join } from 'node:path';
import type { RegoFile } from '../../compiler/index.js';
import { buildWasm, entrypoints, partOfOpa, ResidentCompiler, ResidentLost } from '../../compiler/opa/build.js';
import { packageRoot } from '../../compiler/opa/package-root.js';
import { unpack } from '../bundle/bundle.js';

/** Compiles policy Rego into a module. */
export interface WasmCompiler {
	/**
	 * Returns the bytes of the module. Equal files always give equal bytes, regardless of earlier compilations. Throws
	 * `OpaFailure` if the files do not compile.
	 */
	compile(files: readonly RegoFile[]): Promise<Uint8Array>;
	/** Stops processes that keep running between policies. */
	stop(): Promise<void>;
}

/**
 * Creates a compiler with the program at the path `opa`. An opa built by setup keeps running between policies. For a
 * stock opa, or an opa that cannot keep running, `opa build` runs for each policy. The partial opa from setup lacks
 * this command, so it is restarted instead.
 */
export function createWasmCompiler(opa: string, tools = join(packageRoot, '.tools')): WasmCompiler {
	const once = (files: readonly RegoFile[]) => buildOnce(opa, files);
	if (dirname(opa) !== tools) return { compile: once, stop: async () => undefined };
	const resident = new ResidentCompiler(opa, entrypoints);
	const again = basename(opa) === partOfOpa ? (files: readonly RegoFile[]) => resident.compile(files) : once;
	return {
		compile: (files) =>
			resident.compile(files).catch((error: unknown) => {
				if (error instanceof ResidentLost) return again(files);
				throw error;
			}),
		stop: () => resident.stop(),
	};
}

async function buildOnce(opa: string, files: readonly RegoFile[]): Promise<Uint8Array> {
	const bundle = await unpack(await buildWasm({ opa, files }));
	const wasm = bundle.get('policy.wasm');
	if (wasm === undefined) throw new Error('`opa build` wrote a bundle without `policy.wasm`');
	return wasm;
}
