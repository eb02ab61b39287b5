import type { Schema } from '../../compiler/model.js';

/** Schemas of so many environments are remembered, those that were asked for last. */
const mostRemembered = 8;

/** Where a schema is from: it is another only under another revision of the schema. */
export interface SchemaPlace {
	/** The id of an environment. */
	readonly id: string;
	readonly schema_revision: number;
}

/**
 * The schemas that were read last, whole: compiling a schema, and each delta after it that has to do with derivations,
 * would read all of it anew.
 */
export class SchemaMemory {
	/** In the order in which they were asked for. */
	readonly #remembered = new Map<string, { readonly revision: number; readonly schema: Schema }>();

	/** The schema of an environment at a revision, read by `read` unless it is remembered. */
	async schemaAt({ id, schema_revision }: SchemaPlace, read: () => Promise<Schema>): Promise<Schema> {
		const known = this.#remembered.get(id);
		const schema = known?.revision === schema_revision ? known.schema : await read();
		// A snapshot that began earlier may end later: what is newer stays.
		if ((this.#remembered.get(id)?.revision ?? -1) > schema_revision) return schema;
		this.#remembered.delete(id);
		this.#remembered.set(id, { revision: schema_revision, schema });
		const [oldest] = this.#remembered.keys();
		if (this.#remembered.size > mostRemembered && oldest !== undefined) this.#remembered.delete(oldest);
		return schema;
	}
}
