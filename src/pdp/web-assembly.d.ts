/**
 * The part of the WebAssembly JavaScript interface that is used here. TypeScript declares it only together with the
 * whole browser, and this version of the Node types not at all.
 */
declare namespace WebAssembly {
	/** Linear memory, growing in pages of 64 KiB. Growing detaches `buffer`. */
	interface Memory {
		readonly buffer: ArrayBuffer;
	}
	/** A compiled module. */
	interface Module {
		readonly [Symbol.toStringTag]: 'WebAssembly.Module';
	}
	interface Instance {
		readonly exports: Readonly<Record<string, unknown>>;
	}
	type WebAssemblyInstantiatedSource = { readonly module: Module; readonly instance: Instance };
	type MemoryDescriptor = { readonly initial: number; readonly maximum?: number };
	/** Rejects with a `CompileError` when the bytes are no valid module. */
	function compile(bytes: Uint8Array): Promise<Module>;
}
