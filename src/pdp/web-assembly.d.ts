/**
 * The part of the WebAssembly JavaScript API used by this code. TypeScript only declares it with the whole DOM library,
 * and the current Node types do not declare it.
 */
declare namespace WebAssembly {
	/** Linear memory, in pages of 64 KiB. Growing detaches `buffer`. */
	class Memory {
		constructor(descriptor: { readonly initial: number });
		readonly buffer: ArrayBuffer;
	}
	interface Module {
		readonly [Symbol.toStringTag]: 'WebAssembly.Module';
	}
	class Instance {
		constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
		readonly exports: Readonly<Record<string, unknown>>;
	}
	/** Types referenced by a package: the result of `instantiate`, and the limits of a memory. */
	type WebAssemblyInstantiatedSource = { readonly module: Module; readonly instance: Instance };
	type MemoryDescriptor = { readonly initial: number; readonly maximum?: number };
	/** Rejects with a `CompileError` if the bytes are not a valid module. */
	function compile(bytes: Uint8Array): Promise<Module>;
}
