/** The database that a thread opens. */
export interface DatabaseFolder {
	/** Folder of its files; created when missing. */
	readonly path: string;
	/** Syncs each commit to disk before it is answered. */
	readonly fsync: boolean;
}

/** A request to the thread of the embedded database. */
export interface Question {
	readonly id: number;
	readonly kind: 'query' | 'exec' | 'close';
	readonly sql?: string;
	readonly bindings?: unknown[];
}

/** The answer: a result, or the members of an error. The answer with the id 0 says that the database is open. */
export type Answer =
	| { readonly id: number; readonly result: unknown }
	| { readonly id: number; readonly failure: { readonly message: string } };
