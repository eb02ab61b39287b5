import { z } from 'zod';
import type { Json } from './example.js';

const place = '#/components/schemas/';

/** Named schemas of a document. They are collected while the operations are written. */
export class Components {
	readonly #schemas = new Map<string, Json>();

	/** Returns the JSON Schema for a request (`input`) or a response (`output`). Parts with a name become references. */
	schemaFor(schema: z.ZodType, io: 'input' | 'output'): Json {
		const {
			$schema: _,
			$defs,
			...json
		} = withDocumentReferences(
			z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any', override: adjustSchema }),
		);
		for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) this.#add(name, definition);
		return json;
	}

	#add(name: string, definition: Json): void {
		const known = this.#schemas.get(name);
		if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
			throw new Error(`the schema id ${name} is used by two different schemas`);
		}
		this.#schemas.set(name, definition);
	}

	/** Returns the schema for a reference. */
	resolve(reference: string): Json | undefined {
		return this.#schemas.get(reference.replace(place, ''));
	}

	/** Returns all schemas, sorted by name. */
	sorted(): Json {
		return Object.fromEntries([...this.#schemas].sort(([left], [right]) => (left < right ? -1 : 1)));
	}
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Corrects the JSON Schema conversion. */
const adjustSchema: Override = ({ zodSchema, jsonSchema }) => {
	// Responses may gain fields later, so clients must not reject unknown fields.
	if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
	// The conversion drops a default whose type differs from the input type, such as a number written as a string.
	const { def } = zodSchema._zod;
	if (def.type === 'default') jsonSchema.default ??= def.defaultValue as z.core.JSONSchema.BaseSchema['default'];
};

/** Changes references to local definitions into references to the document's components. */
function withDocumentReferences(schema: Json): Json {
	return JSON.parse(JSON.stringify(schema), (name, value) =>
		name === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', place) : value,
	) as Json;
}
