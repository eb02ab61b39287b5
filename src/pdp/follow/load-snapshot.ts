import { BundleError } from '../../bundle/bundle.js';
import { Engine, type Run } from '../engine/engine.js';
import { FactsIndex } from '../facts/facts-index.js';

/** An engine and a facts index for the same data. */
export interface EngineAndIndex {
	readonly engine: Engine;
	readonly facts: FactsIndex;
}

/**
 * Loads an unpacked snapshot's policy and data. Rejects with `BundleError` if a file is missing, and with the error
 * from loading if a file is invalid.
 */
export async function loadSnapshot(files: ReadonlyMap<string, Uint8Array>, run: Run): Promise<EngineAndIndex> {
	const data = requireFile(files, 'data.json');
	return loadPolicy(await compileModule(files), data, run);
}

/** Loads a policy with data. `data` is a JSON object in bytes. Rejects with `EngineError` like `Engine.load`. */
export async function loadPolicy(module: WebAssembly.Module, data: Uint8Array, run: Run): Promise<EngineAndIndex> {
	const engine = await Engine.load(module, data, run);
	return { engine, facts: await run(FactsIndex.reading(data)) };
}

export function compileModule(files: ReadonlyMap<string, Uint8Array>): Promise<WebAssembly.Module> {
	return WebAssembly.compile(requireFile(files, 'policy.wasm'));
}

function requireFile(files: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
	const bytes = files.get(path);
	if (bytes === undefined) throw new BundleError(`the bundle has no \`${path}\``);
	return bytes;
}
