import { EngineError } from './engine-error.js';
import { type PolicyExports, unsigned } from './policy-exports.js';
import { utf8Text } from './text-bytes.js';

/** One instance of a policy's module, with the memory that it was given. */
export interface PolicyInstance {
	readonly exports: PolicyExports;
	readonly memory: WebAssembly.Memory;
	/** The numbers of the entrypoints by their names. */
	readonly entrypoints: Readonly<Record<string, number>>;
}

/** The version of OPA's interface between modules and those who run them. */
const interfaceVersion = 1;

/**
 * Makes an instance of an OPA module with so many pages of memory. Throws what the runtime throws when it is no module
 * of OPA, and `EngineError` when it is one of another version. Our policies call no function of the host: a call of one
 * aborts the evaluation.
 */
export function instantiatePolicy(module: WebAssembly.Module, pages: number): PolicyInstance {
	const memory = new WebAssembly.Memory({ initial: pages });
	const refuse = () => {
		throw new Error('the policy calls a function of the host');
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

/** What a module exports besides what engines use all the time. */
interface InstanceExports extends PolicyExports {
	readonly opa_wasm_abi_version?: { readonly value: unknown };
	entrypoints(): number;
}

/** The text that begins at an address and ends before the first zero. */
function textFrom(memory: WebAssembly.Memory, address: number): string {
	const bytes = new Uint8Array(memory.buffer, address);
	return utf8Text(bytes, 0, bytes.indexOf(0));
}
