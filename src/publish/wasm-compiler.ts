import { join } from 'node:path';
import type { RegoFile } from '../../compiler/index.js';
import { buildWasm, entrypoints, ResidentCompiler, ResidentLost } from '../../compiler/opa/build.js';
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
 * Compiles with the program at the path `opa`. The one that set-up builds stays up between policies. Any other, or that
 * one where it cannot stay up, is run as `opa build` for each policy.
 */
export function createWasmCompiler(opa: string, own = join(packageRoot, '.tools', 'opa')): WasmCompiler {
	const once = (files: readonly RegoFile[]) => buildOnce(opa, files);
	if (opa !== own) return { compile: once, stop: async () => undefined };
	const resident = new ResidentCompiler(opa, entrypoints);
	return {
		compile: (files) =>
			resident.compile(files).catch((error: unknown) => {
				if (error instanceof ResidentLost) return once(files);
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
