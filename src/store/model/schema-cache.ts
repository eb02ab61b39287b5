import type { Schema } from '../../../compiler/model.js';

/** How many environments' schemas are kept, those asked for last. */
const maxRemembered = 8;

/** Identifies a schema: it changes only with the environment's schema revision. */
export interface SchemaVersion {
	/** The id of an environment. */
	readonly id: string;
	readonly schema_revision: number;
}

/**
 * Caches the schemas that were read last. Compiling a schema, and each delta after it that concerns derivations, would
 * otherwise read all of it again.
 */
export class SchemaCache {
	/** In the order in which they were last asked for. */
	readonly #remembered = new Map<string, { readonly revision: number; readonly schema: Schema }>();

	/** The schema of an environment at a revision, read by `read` unless it is cached. */
	async schemaAt({ id, schema_revision }: SchemaVersion, read: () => Promise<Schema>): Promise<Schema> {
		const known = this.#remembered.get(id);
		const schema = known?.revision === schema_revision ? known.schema : await read();
		// A snapshot that began earlier may end later: a newer schema stays.
		if ((this.#remembered.get(id)?.revision ?? -1) > schema_revision) return schema;
		this.#remembered.delete(id);
		this.#remembered.set(id, { revision: schema_revision, schema });
		const [oldest] = this.#remembered.keys();
		if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
		return schema;
	}
}
