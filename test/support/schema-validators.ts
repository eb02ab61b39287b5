import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

/** Validators for an OpenAPI document's schemas. */
export class SchemaValidators {
	/** Cached validators, keyed by schema, because a few schemas describe most responses. */
	readonly #made = new Map<string, z.ZodType>();

	constructor(readonly components: Readonly<Record<string, Json>>) {}

	/** Returns a validator for the schema and its references. If `closed`, undescribed fields are errors. */
	of(schema: Json, closed = true): z.ZodType {
		const key = `${closed} ${JSON.stringify(schema)}`;
		const made = this.#made.get(key) ?? this.#make(schema, closed);
		this.#made.set(key, made);
		return made;
	}

	#make(schema: Json, closed: boolean): z.ZodType {
		const whole = JSON.stringify({ ...schema, $defs: Object.fromEntries(this.#referredBy(schema)) });
		const complete = JSON.parse(whole, (name, value) => {
			if (name === '$ref') return String(value).replace('#/components/schemas/', '#/$defs/');
			if (!closed) return value;
			const open =
				value?.properties === undefined || value.additionalProperties !== undefined || value.type !== 'object';
			return open ? value : { ...value, additionalProperties: false };
		});
		return z.fromJSONSchema(complete);
	}

	/** Returns the schemas in the document to which this schema refers, directly or indirectly. */
	#referredBy(schema: Json, found: Map<string, Json> = new Map()): ReadonlyMap<string, Json> {
		for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
			const definition = this.components[name];
			if (definition === undefined || found.has(name)) continue;
			found.set(name, definition);
			this.#referredBy(definition, found);
		}
		return found;
	}
}
