/** Writes a JSON document, field by field, as bytes or as a value. */
import { isArray } from './json.js';
import type { Json } from './model.js';
import { byCodeUnit } from './order.js';

/** Receives the fields of nested objects, in document order. */
export interface JsonWriter {
	/** Starts a nested object as the field `key` of the current object. */
	open(key: string): void;
	/** Ends the innermost open object. */
	close(): void;
	/** Adds a complete value as the field `key`. */
	value(key: string, value: Json): void;
}

/** Writes a document as bytes. */
export interface BytesWriter extends JsonWriter {
	/** Returns the document in UTF-8, in chunks. Call once, after every object is closed. */
	bytes(): readonly Uint8Array[];
}

/** Builds a document as a value. */
export interface ValueWriter extends JsonWriter {
	/** Returns the document. Call once, after every object is closed. */
	result(): Json;
}

const chunkLength = 1 << 16;

/** Writes JSON without white space and encodes it in chunks, so no string becomes as large as the document. */
export function bytesWriter(): BytesWriter {
	const encoder = new TextEncoder();
	const chunks: Uint8Array[] = [];
	let text = '{';
	let comma = '';
	return {
		open(key) {
			text += `${comma}${JSON.stringify(key)}:{`;
			comma = '';
		},
		close() {
			text += '}';
			comma = ',';
		},
		value(key, value) {
			text += `${comma}${JSON.stringify(key)}:${canonicalText(value)}`;
			comma = ',';
			if (text.length > chunkLength) {
				chunks.push(encoder.encode(text));
				text = '';
			}
		},
		bytes: () => [...chunks, encoder.encode(`${text}}`)],
	};
}

/** Builds plain objects. `Object.fromEntries` creates an own property for every key, even `__proto__`. */
export function valueWriter(): ValueWriter {
	type Members = [string, Json][];
	const root: Members = [];
	const parents: { readonly key: string; readonly members: Members }[] = [];
	let members = root;
	return {
		open(key) {
			parents.push({ key, members });
			members = [];
		},
		close() {
			const parent = parents.pop();
			const closed = Object.fromEntries(members);
			members = parent?.members ?? root;
			if (parent !== undefined) {
				members.push([parent.key, closed]);
			}
		},
		value(key, value) {
			members.push([key, value]);
		},
		result: () => Object.fromEntries(root),
	};
}

/** Returns JSON with the fields of every object in canonical order. Equal values give equal strings. */
export function canonicalText(value: Json): string {
	if (value === null || typeof value !== 'object') {
		return JSON.stringify(value);
	}
	if (isArray(value)) {
		return `[${value.map(canonicalText).join(',')}]`;
	}
	const members = Object.entries(value)
		.sort(([left], [right]) => byCodeUnit(left, right))
		.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
	return `{${members.join(',')}}`;
}
