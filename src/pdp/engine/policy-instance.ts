import { createRequire } from 'node:module';
import type * as Library from '@open-policy-agent/opa-wasm';
import type { PolicyExports, PolicyInstance } from './policy-exports.js';

// As an ES module, the package does not export this function by name, although its types declare it.
const { loadPolicySync } = createRequire(import.meta.url)('@open-policy-agent/opa-wasm') as typeof Library;

/**
 * Creates an OPA module instance with `pages` memory pages. Throws the runtime's error if the module is not an OPA
 * module, and a string if it has a different interface version. The only host function in our policies is the clock,
 * for inputs without a time. The package does not provide it, so a call aborts the evaluation, as in other runtimes.
 */
export function instantiatePolicy(module: WebAssembly.Module, pages: number): PolicyInstance {
	const { wasmInstance, mem, entrypoints } = loadPolicySync(module, { initial: pages });
	// For a compiled module, the function returns only the instance.
	const { exports } = wasmInstance as WebAssembly.Instance;
	return { exports: exports as unknown as PolicyExports, memory: mem, entrypoints };
}
