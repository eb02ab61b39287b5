/** Database to open in a thread. */
export interface DatabaseFolder {
	/** Folder for its files; created if missing. */
	readonly path: string;
	/** Syncs each commit to disk before its response. */
	readonly fsync: boolean;
}

/** Request to the embedded database's thread. */
export interface Question {
	readonly id: number;
	readonly kind: 'query' | 'exec' | 'close';
	readonly sql?: string;
	readonly bindings?: unknown[];
}

/**
 * Response with a result, or with the properties of an error. A response with the id 0 reports that the database is
 * open.
 */
export type Answer =
	| { readonly id: number; readonly result: unknown }
	| { readonly id: number; readonly failure: { readonly message: string } };
