import { createHash } from 'node:crypto';

/** JSON Schema or a part of it. */
export type Json = Readonly<Record<string, unknown>>;

/** Data from which examples are built. */
export interface ExampleSource {
	/** Returns the schema for a reference (`#/components/schemas/Thing`). */
	readonly resolve: (reference: string) => Json | undefined;
	/** Returns known values for the object behind a reference. */
	readonly known: (reference: string) => unknown;
	/** Example values, keyed by field or parameter name. */
	readonly samples: Json;
}

/**
 * Builds an example for a schema. The result is deterministic. If the schema of an object or a map contains an example,
 * this example is used. Otherwise values come first from `hint`, then from `source`, and then from the schema. `hint`
 * may have more or fewer fields than the schema. If neither `hint` nor `source` has a value, an optional field is
 * omitted and a nullable field is null.
 */
export function buildExample(source: ExampleSource, schema: Json, hint?: unknown, name = ''): unknown {
	const value = knownExample(source, schema, hint, name);
	return value === undefined ? plain(schema) : value;
}

const instant = '2025-01-31T09:30:00.000Z';

/** Returns a field's known value; `undefined` if there is none. */
function knownExample(source: ExampleSource, schema: Json, hint: unknown, name: string): unknown {
	const reference = schema['$ref'];
	if (typeof reference === 'string') {
		const known = merged(source.known(reference), hint);
		return knownExample(source, source.resolve(reference) ?? {}, known, name);
	}
	const options = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
	if (options !== undefined) return optionExample(source, options, hint, name);
	if (schema['type'] === 'array') return listExample(source, schema, hint, name);
	if (isRecord(schema['properties']))
		return schema['example'] ?? objectExample(source, schema, schema['properties'], hint);
	if (isRecord(schema['additionalProperties'])) {
		return schema['example'] ?? mapExample(source, schema, schema['additionalProperties'], hint);
	}
	return leafExample(source, schema, hint, name);
}

function optionExample(source: ExampleSource, options: readonly Json[], hint: unknown, name: string): unknown {
	const likely = options.filter((option) => hint !== undefined && accepts(option, hint));
	for (const option of [...likely, ...options]) {
		const value = option['type'] === 'null' ? undefined : knownExample(source, option, hint, name);
		if (value !== undefined) return value;
	}
	return options.some((option) => option['type'] === 'null') ? null : undefined;
}

function listExample(source: ExampleSource, schema: Json, hint: unknown, name: string): unknown {
	const items = isRecord(schema['items']) ? schema['items'] : {};
	const given = Array.isArray(hint) ? hint : source.samples[name];
	if (Array.isArray(given)) return given.map((item) => buildExample(source, items, item));
	const item = knownExample(source, items, undefined, name);
	return item === undefined ? undefined : [item];
}

function objectExample(source: ExampleSource, schema: Json, properties: Json, hint: unknown): Json {
	const required = new Set((schema['required'] ?? []) as readonly string[]);
	const members = Object.entries(properties).flatMap(([name, member]) => {
		const part = isRecord(member) ? member : {};
		const value = knownExample(source, part, isRecord(hint) ? hint[name] : undefined, name);
		if (value === undefined && !required.has(name)) return [];
		return [[name, value === undefined ? plain(part) : value]];
	});
	return Object.fromEntries(members);
}

function mapExample(source: ExampleSource, schema: Json, member: Json, hint: unknown): unknown {
	if (!isRecord(hint)) return undefined;
	const members = Object.entries(hint).map(([key, value]) => {
		// In a map, an object's field name is its key.
		const known = isRecord(value) ? { key, ...value } : value;
		return [key, buildExample(source, member, known)];
	});
	const required = (schema['required'] ?? []) as readonly string[];
	const missing = required.filter((key) => !Object.hasOwn(hint, key)).map((key) => [key, plain(member)]);
	return Object.fromEntries([...members, ...missing]);
}

function leafExample({ samples }: ExampleSource, schema: Json, hint: unknown, name: string): unknown {
	for (const value of [hint, samples[name], schema['example']]) {
		if (value !== undefined && accepts(schema, value)) return value;
	}
	if ('const' in schema) return schema['const'];
	if (Array.isArray(schema['enum'])) return schema['enum'][0];
	if (schema['format'] === 'uuid') return idFor(name);
	if (schema['format'] === 'date-time') return instant;
	return schema['default'];
}

/** Returns a value based only on the type. */
function plain(schema: Json): unknown {
	const types = [schema['type']].flat();
	const [type] = types.includes('null') ? ['null'] : types;
	if (type === 'object') return {};
	if (type === 'array') return [];
	if (type === 'boolean') return false;
	if (type === 'integer' || type === 'number') return Math.max(Number(schema['minimum'] ?? 1), 1);
	return type === 'string' ? 'example' : null;
}

/** True if a value matches a schema. Checks only the keywords that examples need. */
function accepts(schema: Json, value: unknown): boolean {
	if ('const' in schema) return schema['const'] === value;
	if (Array.isArray(schema['enum'])) return schema['enum'].includes(value);
	const types = [schema['type'] ?? jsonType(value)].flat();
	if (!types.includes(jsonType(value)) && !(types.includes('number') && jsonType(value) === 'integer')) return false;
	if (typeof value !== 'string') return true;
	if (schema['format'] === 'uuid' && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return false;
	if (schema['format'] === 'date-time' && Number.isNaN(Date.parse(value))) return false;
	return typeof schema['pattern'] !== 'string' || new RegExp(schema['pattern'], 'u').test(value);
}

function jsonType(value: unknown): string {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'array';
	return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Returns an id that is always the same for a name. */
function idFor(name: string): string {
	return `0192f0c1-2a5b-7cc3-8d4e-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}

/** Merges two values. If both have a field, the later value is used. */
function merged(earlier: unknown, later: unknown): unknown {
	return isRecord(earlier) && isRecord(later) ? { ...earlier, ...later } : (later ?? earlier);
}

function isRecord(value: unknown): value is Json {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
