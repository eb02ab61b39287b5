import type { Schema } from '../../../compiler/model.js';

/** How many environments' schemas are kept, those asked for last. */
const maxRemembered = 8;

/** Identifies a schema: it changes only with the environment's schema revision, or with its history. */
export interface SchemaVersion {
	/** The id of an environment. */
	readonly id: string;
	readonly schema_revision: number;
	readonly schema_token: string;
	readonly lineage: string;
}

/** A schema that was read. */
interface Remembered extends Omit<SchemaVersion, 'id'> {
	readonly schema: Schema;
}

/**
 * Caches the schemas that were read last. Compiling a schema, and each delta after it that concerns derivations, would
 * otherwise read all of it again.
 */
export class SchemaCache {
	/** In the order in which they were last asked for. */
	readonly #remembered = new Map<string, Remembered>();

	/** The schema of an environment at a revision, read by `read` unless it is cached. */
	async schemaAt({ id, ...version }: SchemaVersion, read: () => Promise<Schema>): Promise<Schema> {
		const known = this.#remembered.get(id);
		const isKnown = known?.schema_revision === version.schema_revision && known.schema_token === version.schema_token;
		const schema = isKnown ? known.schema : await read();
		// A snapshot that began earlier may end later: a newer schema stays.
		const other = this.#remembered.get(id);
		if (other?.lineage === version.lineage && other.schema_revision > version.schema_revision) return schema;
		this.#remembered.delete(id);
		this.#remembered.set(id, { ...version, schema });
		const [oldest] = this.#remembered.keys();
		if (this.#remembered.size > maxRemembered && oldest !== undefined) this.#remembered.delete(oldest);
		return schema;
	}
}
