import { EngineError } from './engine-error.js';
import { type PolicyExports, type PolicyInstance, unsigned } from './policy-exports.js';
import { utf8Text } from './text-bytes.js';

/** OPA's interface version for modules and hosts. */
const interfaceVersion = 1;

/**
 * Counterpart of `policy-instance.ts` for the library, without a dependency. Creates an OPA module instance with
 * `pages` memory pages. Throws the runtime's error if the module is not an OPA module, and `EngineError` if it has a
 * different interface version. A call to a host function aborts the evaluation. Our policies call only the clock, for
 * inputs without a time.
 */
export function instantiatePolicy(module: WebAssembly.Module, pages: number): PolicyInstance {
	const memory = new WebAssembly.Memory({ initial: pages });
	const refuse = () => {
		throw new Error('the policy calls a host function');
	};
	const instance = new WebAssembly.Instance(module, {
		env: {
			memory,
			opa_abort: (address: number) => {
				throw new Error(textFrom(memory, unsigned(address)));
			},
			opa_println: () => undefined,
			opa_builtin0: refuse,
			opa_builtin1: refuse,
			opa_builtin2: refuse,
			opa_builtin3: refuse,
			opa_builtin4: refuse,
		},
	});
	const exports = instance.exports as unknown as InstanceExports;
	const version = exports.opa_wasm_abi_version?.value;
	if (version !== interfaceVersion) throw new EngineError(`the policy has version ${version} of OPA's interface`);
	const entrypoints: unknown = JSON.parse(
		textFrom(memory, unsigned(exports.opa_json_dump(unsigned(exports.entrypoints())))),
	);
	return { exports, memory, entrypoints: entrypoints as Readonly<Record<string, number>> };
}

/** Module exports used only at instantiation, in addition to the exports that engines use. */
interface InstanceExports extends PolicyExports {
	readonly opa_wasm_abi_version?: { readonly value: unknown };
	entrypoints(): number;
}

/** Returns the zero-terminated text at an address. */
function textFrom(memory: WebAssembly.Memory, address: number): string {
	const bytes = new Uint8Array(memory.buffer, address);
	return utf8Text(bytes, 0, bytes.indexOf(0));
}
