import { isEqualJson, isRecord } from '../equal-json.js';

/** How an object of one schema compares with the one of the same name in another. */
export interface SchemaDifference {
	/** The place in the document, such as `resources.document.roles.editor`. */
	readonly place: string;
	readonly kind: 'added' | 'removed' | 'changed';
	/** In the first schema; absent where it is added. */
	readonly before?: unknown;
	/** In the second one; absent where it is removed. */
	readonly after?: unknown;
}

type Json = unknown;

/** How deep objects of a schema are compared by their names: a role of a resource is at the fourth step. */
const namedDepth = 4;

/** What differs between the schema halves of two documents, by place. Members in another order do not differ. */
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
