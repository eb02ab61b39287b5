/** OPA module exports used by this code. Every address is a signed 32-bit number: see `unsigned`. */
export interface PolicyExports {
	opa_eval(reserved: 0, entrypoint: number, data: number, input: number, length: number, heap: number, json: 0): number;
	opa_eval_ctx_new(): number;
	opa_eval_ctx_set_entrypoint(context: number, entrypoint: number): void;
	opa_eval_ctx_set_data(context: number, data: number): void;
	opa_eval_ctx_set_input(context: number, input: number): void;
	opa_eval_ctx_get_result(context: number): number;
	eval(context: number): number;
	opa_malloc(bytes: number): number;
	opa_free(address: number): void;
	opa_json_parse(address: number, bytes: number): number;
	opa_json_dump(value: number): number;
	opa_value_add_path(data: number, path: number, value: number): number;
	opa_value_remove_path(data: number, path: number): number;
	opa_value_free(value: number): void;
	opa_heap_ptr_get(): number;
	opa_heap_ptr_set(address: number): void;
	opa_heap_blocks_stash(): void;
	opa_heap_blocks_restore(): void;
}

/** A policy module instance with its memory. */
export interface PolicyInstance {
	readonly exports: PolicyExports;
	readonly memory: WebAssembly.Memory;
	/** Entrypoint numbers, keyed by name. */
	readonly entrypoints: Readonly<Record<string, number>>;
}

/**
 * Converts a signed address to an unsigned number. Addresses in the upper half of memory arrive as negative numbers.
 */
export function unsigned(address: number): number {
	return address >>> 0;
}
