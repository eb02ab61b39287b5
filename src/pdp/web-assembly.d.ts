/**
 * The part of the WebAssembly JavaScript interface that this code uses. TypeScript declares it only together with the
 * whole browser, and this version of the Node types does not declare it.
 */
declare namespace WebAssembly {
	/** Linear memory, growing in pages of 64 KiB. Growing detaches `buffer`. */
	class Memory {
		constructor(descriptor: { readonly initial: number });
		readonly buffer: ArrayBuffer;
	}
	/** A compiled module. */
	interface Module {
		readonly [Symbol.toStringTag]: 'WebAssembly.Module';
	}
	class Instance {
		constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
		readonly exports: Readonly<Record<string, unknown>>;
	}
	/** The type of `instantiate`'s answer, and that of a memory's limits, which types of a package name. */
	type WebAssemblyInstantiatedSource = { readonly module: Module; readonly instance: Instance };
	type MemoryDescriptor = { readonly initial: number; readonly maximum?: number };
	/** Rejects with a `CompileError` when the bytes are not a valid module. */
	function compile(bytes: Uint8Array): Promise<Module>;
}
