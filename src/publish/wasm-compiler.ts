import { basename, dirname, join } from 'node:path';
import type { RegoFile } from '../../compiler/index.js';
import { buildWasm, entrypoints, partOfOpa, ResidentCompiler, ResidentLost } from '../../compiler/opa/build.js';
import { packageRoot } from '../../compiler/opa/package-root.js';
import { unpack } from '../bundle/bundle.js';

/** Turns the Rego of a policy into a module. */
export interface WasmCompiler {
	/**
	 * The bytes of the module: equal files give equal bytes, whatever was compiled before. Throws `OpaFailure` when
	 * they do not compile.
	 */
	compile(files: readonly RegoFile[]): Promise<Uint8Array>;
	/** Stops what stays up between policies. */
	stop(): Promise<void>;
}

/**
 * Compiles with the program at the path `opa`. An opa that set-up built keeps running between policies.
 * A stock opa, or one that cannot keep running, is run as `opa build` for each policy. The part of opa that set-up builds
 * has no such command, so it is started again instead.
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
