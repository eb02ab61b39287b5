import { basename, dirname, join } from 'node:path';
import type { RegoFile } from '../../compiler/index.js';
import { buildWasm, entrypoints, partOfOpa, ResidentCompiler, ResidentLost } from '../../compiler/opa/build.js';
import { packageRoot } from '../../compiler/opa/package-root.js';
import { unpack } from '../bundle.js';

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
 * Compiles with the program at the path `opa`. One that set-up builds stays up between policies. Any other, or that
 * one where it cannot stay up, is run as `opa build` for each policy. What set-up builds as a part of opa does not know
 * that command: it is started anew.
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
