import { Failure, notFound } from '../../failure.js';
import type { KeyedModel } from '../../store/table/environment-model.js';
import { rowsWithIds, sortedRowKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { TableModel, Within } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { EnvironmentDocument } from '../../wire/general/environment-document.js';

/** Location in a document: the field names and indexes from the document's root. */
export type DocumentPlace = readonly (string | number)[];

/** An object from a document or an environment. Both have the same form. */
export interface Entry<V> {
	/** Unique within its kind. */
	readonly name: string;
	readonly place: DocumentPlace;
	readonly value: V;
}

/** Entry to write. */
export interface WantedEntry<V> extends Entry<V> {
	readonly exists: boolean;
}

/** A copy filter, and the key to test with it. */
export type CopyPass = readonly [filter: 'resources' | 'roles' | 'user_sets' | 'resource_sets', key: string];

/**
 * Reader and writer for a kind of object in documents. Writes follow all API rules. To support a new kind of object,
 * add a part.
 */
export interface DocumentPart<V> {
	/** Kind name in messages. */
	readonly title: string;
	/** The document field that contains the objects. For nested objects, also the field in the enclosing object. */
	readonly member: readonly [half: 'schema' | 'facts', member: string, nested?: string];
	/**
	 * Returns the copy filters an object must pass, each with the key to test. Includes the filters for objects in `all`
	 * that this object requires. `null` for kinds that are never copied.
	 */
	readonly scope: ((entry: Entry<V>, all: readonly Entry<V>[]) => readonly CopyPass[]) | null;
	/** True if the field is a list. Then an object is identified only by its content. */
	readonly list: boolean;
	/** True if the environment has no such object. An import then does not search for stored objects. Absent: unknown. */
	isEmpty?(unit: ReadingUnit): Promise<boolean>;
	entriesIn(document: EnvironmentDocument): readonly Entry<V>[];
	/** Yields an environment's objects in name order, in chunks. */
	chunks(unit: ReadingUnit): AsyncIterable<readonly Entry<V>[]>;
	/** Returns the stored objects with the same names as these entries, keyed by name. */
	stored(unit: ReadingUnit, entries: readonly Entry<V>[]): Promise<ReadonlyMap<string, V>>;
	/** Converts a value for a document, without fields that have default values. */
	toDocument(value: V): unknown;
	/** Creates and changes the given objects. */
	write(unit: WritingUnit, entries: readonly WantedEntry<V>[]): Promise<void>;
	/** Deletes the given objects, with everything attached to them. */
	remove(unit: WritingUnit, entries: readonly Entry<V>[]): Promise<void>;
}

/** Number of objects per chunk. It is large enough to save statements, and small enough to keep each step short. */
const chunkSize = 1_000;

/** Splits a list into chunks. */
export function* chunked<R>(rows: readonly R[]): Generator<readonly R[]> {
	for (let start = 0; start < rows.length; start += chunkSize) yield rows.slice(start, start + chunkSize);
}

/** Yields table rows in key order, in chunks. Skips rows that are deleted during the iteration. */
export async function* rowsInKeyOrder<M extends KeyedModel>(
	unit: ReadingUnit,
	table: TableModel<M>,
	within: Within = {},
): AsyncGenerator<readonly M[]> {
	for (const names of chunked(await sortedRowKeys(unit, table, within))) {
		const ids = names.map(({ id }) => id);
		const rows = await rowsWithIds(unit, table, ids);
		yield ids.flatMap((id) => rows.get(id) ?? []);
	}
}

/** Returns the name of a nested object: the resource key and the object key. Keys contain no slash. */
export function nestedName(holder: string, key: string): string {
	return `${holder}/${key}`;
}

/** Splits a name from `nestedName`. */
export function nestedKeys(name: string): readonly [holder: string, key: string] {
	const [holder = '', key = ''] = name.split('/');
	return [holder, key];
}

/** Runs `work`, which writes an entry, and adds the entry's location in the document to failures. */
export async function withPlace<T>(place: DocumentPlace, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw error instanceof Failure ? failureAt(place, error) : error;
	}
}

export function unknownReference(place: DocumentPlace, title: string, key: string): Failure {
	return failureAt(place, notFound(title, key));
}

function failureAt(place: DocumentPlace, failure: Failure): Failure {
	const problems = failure.problems.map(({ loc: [part = 'body', ...rest], ...problem }) => ({
		...problem,
		loc: [part, ...place, ...rest],
	}));
	return new Failure(failure.code, `${failure.message}, at ${place.join('.')}`, failure.info, problems);
}

/** Returns the fields of `value` that differ from those in `blank`. */
export function withoutDefaults(value: object, blank: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const says = ([name, member]: [string, unknown]) =>
		!Object.hasOwn(blank, name) || JSON.stringify(member) !== JSON.stringify(blank[name]);
	return Object.fromEntries(Object.entries(value).filter(says));
}

/** Record with absent fields instead of nulls, like API bodies. */
type WithoutNulls<F> = { [K in keyof F]: null extends F[K] ? Exclude<F[K], null> | undefined : F[K] };

/** Returns the fields without nulls, for functions that expect absent fields instead. */
export function withoutNulls<F extends object>(fields: F): WithoutNulls<F> {
	const given = Object.entries(fields).map(([name, value]) => [name, value ?? undefined]);
	// Only nulls were removed, so the type is correct.
	return Object.fromEntries(given) as WithoutNulls<F>;
}

export function mapValues<V, W>(
	map: Readonly<Record<string, V>>,
	make: (value: V, key: string) => W,
): Record<string, W> {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, make(value, key)]));
}

export function mapEntries<V>(place: DocumentPlace, map: Readonly<Record<string, V>> = {}): readonly Entry<V>[] {
	return Object.entries(map).map(([name, value]) => ({ name, place: [...place, name], value }));
}

export function valuesByName<V>(entries: readonly Entry<V>[]): ReadonlyMap<string, V> {
	return new Map(entries.map(({ name, value }) => [name, value]));
}

/** Returns entries in name order. The entries have no location, because they come from an environment. */
export function sortedEntries<V>(values: readonly V[], toName: (value: V) => string): readonly Entry<V>[] {
	const entries = values.map((value) => ({ name: toName(value), place: [], value }));
	return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Returns the entries in a document list, without duplicates. */
export function listEntries<V>(
	place: DocumentPlace,
	list: readonly V[] = [],
	toName: (value: V) => string,
): readonly Entry<V>[] {
	const entries = list.map((value, index) => ({ name: toName(value), place: [...place, index], value }));
	return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

export function entryNames(entries: readonly Entry<unknown>[]): readonly string[] {
	return entries.map(({ name }) => name);
}
