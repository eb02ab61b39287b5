import { Failure, notFound } from '../failure.js';
import type { KeyedModel } from '../store/table/environment-model.js';
import { rowsWithIds, sortedRowKeys } from '../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { TableModel, Within } from '../store/unit/table-model.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { EnvironmentDocument } from '../wire/general/environment-document.js';

/** A place in a document: member names and indexes, from the root. */
export type DocumentPlace = readonly (string | number)[];

/** One object of a document or, in the same form, of an environment. */
export interface Entry<V> {
	/** Unique among the objects of its kind. */
	readonly name: string;
	readonly place: DocumentPlace;
	readonly value: V;
}

/** An entry to write, and whether an object of that name exists already. */
export interface WantedEntry<V> extends Entry<V> {
	readonly exists: boolean;
}

/** One filter of a copy, and the key that must pass it. */
export type CopyPass = readonly [filter: 'resources' | 'roles' | 'user_sets' | 'resource_sets', key: string];

/**
 * One kind of object in documents: how it is read, and how it is written under all rules of the API. A new kind of
 * object needs nothing but a new part.
 */
export interface DocumentPart<V> {
	/** The name of the kind in messages. */
	readonly title: string;
	/** The member of the document that holds the objects and, for nested objects, the member of the enclosing object. */
	readonly member: readonly [half: 'schema' | 'facts', member: string, nested?: string];
	/**
	 * The filters of a copy that an object must pass, with the keys to test, also for another one of `all` that it does
	 * not do without; `null` for kinds that are never copied.
	 */
	readonly scope: ((entry: Entry<V>, all: readonly Entry<V>[]) => readonly CopyPass[]) | null;
	/** Whether the member is a list, because only its content identifies an object. */
	readonly list: boolean;
	/** All objects of a document. */
	entriesIn(document: EnvironmentDocument): readonly Entry<V>[];
	/** All objects of an environment, in order, in chunks. */
	chunks(unit: ReadingUnit): AsyncIterable<readonly Entry<V>[]>;
	/** The objects of an environment that have the names of these entries, by name. */
	stored(unit: ReadingUnit, entries: readonly Entry<V>[]): Promise<ReadonlyMap<string, V>>;
	/** The value as a document shows it: without members that equal their default. */
	toDocument(value: V): unknown;
	/** Creates and changes the objects that entries name. */
	write(unit: WritingUnit, entries: readonly WantedEntry<V>[]): Promise<void>;
	/** Deletes the objects that entries name, with everything attached to them. */
	remove(unit: WritingUnit, entries: readonly Entry<V>[]): Promise<void>;
}

/** Objects that are read and compared at once: enough to save statements, few enough to hold nobody up for long. */
const chunkSize = 1_000;

/** A list in chunks. */
export function* chunked<R>(rows: readonly R[]): Generator<readonly R[]> {
	for (let start = 0; start < rows.length; start += chunkSize) yield rows.slice(start, start + chunkSize);
}

/** The rows of a table, in the order of their keys, in chunks. Rows that are deleted in the meantime are left out. */
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

/** The name of a nested object: the key of its resource, and its own. A key has no slash. */
export function nestedName(holder: string, key: string): string {
	return `${holder}/${key}`;
}

/** The two keys in a name that `nestedName` made. */
export function nestedKeys(name: string): readonly [holder: string, key: string] {
	const [holder = '', key = ''] = name.split('/');
	return [holder, key];
}

/** Runs the write of one entry, and adds the place of the entry in the document to its failures. */
export async function withPlace<T>(place: DocumentPlace, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw error instanceof Failure ? failureAt(place, error) : error;
	}
}

/** The failure for a reference in a document that names nothing. */
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

/** A record without the members that equal those of `blank`. */
export function withoutDefaults(value: object, blank: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const says = ([name, member]: [string, unknown]) =>
		!Object.hasOwn(blank, name) || JSON.stringify(member) !== JSON.stringify(blank[name]);
	return Object.fromEntries(Object.entries(value).filter(says));
}

/** A record whose nulls are absent, as in bodies of the API. */
type WithoutNulls<F> = { [K in keyof F]: null extends F[K] ? Exclude<F[K], null> | undefined : F[K] };

/** A record without its nulls, for functions that treat null like absence. */
export function withoutNulls<F extends object>(fields: F): WithoutNulls<F> {
	const given = Object.entries(fields).map(([name, value]) => [name, value ?? undefined]);
	// Only nulls became absent, which is what the type says.
	return Object.fromEntries(given) as WithoutNulls<F>;
}

/** A map with each value replaced by what `make` returns. */
export function mapValues<V, W>(
	map: Readonly<Record<string, V>>,
	make: (value: V, key: string) => W,
): Record<string, W> {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, make(value, key)]));
}

/** The entries of a map of a document. */
export function mapEntries<V>(place: DocumentPlace, map: Readonly<Record<string, V>> = {}): readonly Entry<V>[] {
	return Object.entries(map).map(([name, value]) => ({ name, place: [...place, name], value }));
}

/** Entries' values by name. */
export function valuesByName<V>(entries: readonly Entry<V>[]): ReadonlyMap<string, V> {
	return new Map(entries.map(({ name, value }) => [name, value]));
}

/**
 * Entries in the order of their names. They have no place, because they come from an environment and not from a
 * document.
 */
export function sortedEntries<V>(values: readonly V[], toName: (value: V) => string): readonly Entry<V>[] {
	const entries = values.map((value) => ({ name: toName(value), place: [], value }));
	return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** The entries of a list of a document, without repetitions. */
export function listEntries<V>(
	place: DocumentPlace,
	list: readonly V[] = [],
	toName: (value: V) => string,
): readonly Entry<V>[] {
	const entries = list.map((value, index) => ({ name: toName(value), place: [...place, index], value }));
	return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

/** The names of entries. */
export function entryNames(entries: readonly Entry<unknown>[]): readonly string[] {
	return entries.map(({ name }) => name);
}
