import { isEqualJson, isRecord } from '../equal-json.js';

/** Difference between two objects with the same name in two schemas. */
export interface SchemaDifference {
	/** Path in the document, such as `resources.document.roles.editor`. */
	readonly place: string;
	readonly kind: 'added' | 'removed' | 'changed';
	/** Value in the first schema; absent if the object was added. */
	readonly before?: unknown;
	/** Value in the second schema; absent if the object was removed. */
	readonly after?: unknown;
}

type Json = unknown;

/** Maximum depth at which fields are compared by name. A resource role is at the fourth step. */
const namedDepth = 4;

/** Compares the schema halves in two documents, path by path. Ignores field order. */
export function schemaDifference(before: Json, after: Json): readonly SchemaDifference[] {
	const found: SchemaDifference[] = [];
	compare([], before, after, found);
	return found;
}

function compare(place: readonly string[], before: Json, after: Json, found: SchemaDifference[]): void {
	if (isEqualJson(before, after)) return;
	if (isRecord(before) && isRecord(after) && place.length < namedDepth) {
		const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
		for (const name of names) compare([...place, name], own(before, name), own(after, name), found);
		return;
	}
	const text = place.join('.');
	if (before === undefined) found.push({ place: text, kind: 'added', after });
	else if (after === undefined) found.push({ place: text, kind: 'removed', before });
	else found.push({ place: text, kind: 'changed', before, after });
}

function own(record: Readonly<Record<string, Json>>, name: string): Json {
	return Object.hasOwn(record, name) ? record[name] : undefined;
}
