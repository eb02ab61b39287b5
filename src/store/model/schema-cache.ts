import type { Schema } from '../../../compiler/model.js';

/** Maximum number of cached schemas; the least recently used are dropped. */
const maxRemembered = 8;

/** Identifies a schema. The schema changes only if the environment's schema revision or history changes. */
export interface SchemaVersion {
	readonly id: string;
	readonly schema_revision: number;
	readonly schema_token: string;
	readonly lineage: string;
}

interface Remembered extends Omit<SchemaVersion, 'id'> {
	readonly schema: Schema;
}

/**
 * Caches recently read schemas. Otherwise each compilation, and each delta with derivations, would read the schema
 * again.
 */
export class SchemaCache {
	/** Ordered by last use. */
	readonly #remembered = new Map<string, Remembered>();

	/** Returns an environment's schema at a revision, from the cache or from `read`. */
	async schemaAt({ id, ...version }: SchemaVersion, read: () => Promise<Schema>): Promise<Schema> {
		const known = this.#remembered.get(id);
		const isKnown = known?.schema_revision === version.schema_revision && known.schema_token === version.schema_token;
		const schema = isKnown ? known.schema : await read();
		// A snapshot that began earlier may end later, so do not replace a newer schema.
		const other = this.#remembered.get(id);
		if (other?.lineage === version.lineage && other.schema_revision > version.schema_revision) return schema;
		this.#remembered.delete(id);
		this.#remembered.set(id, { ...version, schema });
		const [oldest] = this.#remembered.keys();
		if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
		return schema;
	}
}
