import { createRequire } from 'node:module';
import type * as Library from '@open-policy-agent/opa-wasm';
import type { PolicyExports, PolicyInstance } from './policy-exports.js';

// As an ES module, the package does not export this function by name, although its types declare it.
const { loadPolicySync } = createRequire(import.meta.url)('@open-policy-agent/opa-wasm') as typeof Library;

/**
 * Creates an OPA module instance with `pages` memory pages. Throws the runtime's error if the module is not an OPA
 * module, and a string if it has a different interface version. Our policies call no function of the host except the
 * clock, which the package lacks, so such a call aborts the evaluation, as in the counterpart for other runtimes.
 */
export function instantiatePolicy(module: WebAssembly.Module, pages: number): PolicyInstance {
	const { wasmInstance, mem, entrypoints } = loadPolicySync(module, { initial: pages });
	// For a compiled module, the function returns only the instance.
	const { exports } = wasmInstance as WebAssembly.Instance;
	return { exports: exports as unknown as PolicyExports, memory: mem, entrypoints };
}
