import { Failure, notFound } from '../failure.js';
import type { KeyedModel } from '../store/table/environment-model.js';
import type { ReadingUnit, Table, Within, WritingUnit } from '../store/unit.js';
import { namesOf, rowsWithIds } from '../store/whole.js';
import type { EnvironmentDocument } from '../wire/environment-document.js';

/** Where something is in a document: members and indexes from its root. */
export type Place = readonly (string | number)[];

/** One object in a document or, in the same words, in an environment. */
export interface Entry<V> {
	/** Tells it from the others of its kind. */
	readonly name: string;
	readonly place: Place;
	readonly value: V;
}

/** An entry to be written, and whether an object of that name is there to be changed. */
export interface Written<V> extends Entry<V> {
	readonly exists: boolean;
}

/** One filter of a copy, and the key that must pass it. */
export type CopyPass = readonly [filter: 'resources' | 'roles' | 'user_sets' | 'resource_sets', key: string];

/**
 * One kind of object that documents hold: how it is read, and how it is written so that every law of the API holds.
 * A kind more is one more of these.
 */
export interface Part<V> {
	/** What one of them is called in messages. */
	readonly title: string;
	/** The member of the document that holds them, and of those of its objects that hold them one by one, if they do. */
	readonly member: readonly [half: 'schema' | 'facts', member: string, nested?: string];
	/** Which filters of a copy an object must pass, and by which keys; `null` for what is never copied. */
	readonly scope: ((entry: Entry<V>) => readonly CopyPass[]) | null;
	/** Whether the member is a list, because nothing but its content names an object. */
	readonly list: boolean;
	/** All of a document. */
	entriesOf(document: EnvironmentDocument): readonly Entry<V>[];
	/** All of an environment, in order, in portions. */
	portions(unit: ReadingUnit): AsyncIterable<readonly Entry<V>[]>;
	/** Those of an environment that have the names of these entries, by name. */
	held(unit: ReadingUnit, entries: readonly Entry<V>[]): Promise<ReadonlyMap<string, V>>;
	/** How a document says it: without what its absence says as well. */
	shown(value: V): unknown;
	/** Creates and changes what the entries name. */
	write(unit: WritingUnit, entries: readonly Written<V>[]): Promise<void>;
	/** Deletes what the entries name, with what hangs on it. */
	remove(unit: WritingUnit, entries: readonly Entry<V>[]): Promise<void>;
}

/** How many objects are read and compared at once: enough that statements are few, few enough to hold. */
export const portionSize = 5000;

/** A list in portions. */
export function* portionsOf<R>(rows: readonly R[]): Generator<readonly R[]> {
	for (let start = 0; start < rows.length; start += portionSize) yield rows.slice(start, start + portionSize);
}

/** The rows of a table, in the order of their keys, in portions. Rows that go meanwhile are left out. */
export async function* rowsByKey<M extends KeyedModel>(
	unit: ReadingUnit,
	table: Table<M>,
	within: Within = {},
): AsyncGenerator<readonly M[]> {
	for (const names of portionsOf(await namesOf(unit, table, within))) {
		const ids = names.map(({ id }) => id);
		const rows = await rowsWithIds(unit, table, ids);
		yield ids.flatMap((id) => rows.get(id) ?? []);
	}
}

/** What a nested object is called: its key beside that of what holds it. A key has no slash. */
export function nestedName(holder: string, key: string): string {
	return `${holder}/${key}`;
}

/** The keys that a name of `nestedName` is made of. */
export function nestedKeys(name: string): readonly [holder: string, key: string] {
	const [holder = '', key = ''] = name.split('/');
	return [holder, key];
}

/** Runs what writes one entry; its failures then say where in the document the entry is. */
export async function placed<T>(place: Place, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw error instanceof Failure ? failureAt(place, error) : error;
	}
}

/** A reference at a place of a document that names nothing. */
export function nothingAt(place: Place, title: string, key: string): Failure {
	return failureAt(place, notFound(title, key));
}

function failureAt(place: Place, failure: Failure): Failure {
	const problems = failure.problems.map(({ loc: [part = 'body', ...rest], ...problem }) => ({
		...problem,
		loc: [part, ...place, ...rest],
	}));
	return new Failure(failure.code, `${failure.message}, at ${place.join('.')}`, failure.info, problems);
}

/** A record without the members that are as in `blank`: null, or empty. */
export function without(value: object, blank: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const says = ([name, member]: [string, unknown]) =>
		!Object.hasOwn(blank, name) || JSON.stringify(member) !== JSON.stringify(blank[name]);
	return Object.fromEntries(Object.entries(value).filter(says));
}

/** A record whose nulls are absent, as the bodies of the API have it. */
type WithoutNulls<F> = { [K in keyof F]: null extends F[K] ? Exclude<F[K], null> | undefined : F[K] };

/** A record without its nulls, for functions to which absence says the same. */
export function withoutNulls<F extends object>(fields: F): WithoutNulls<F> {
	const given = Object.entries(fields).map(([name, value]) => [name, value ?? undefined]);
	// Only nulls became absent, which is what the type says.
	return Object.fromEntries(given) as WithoutNulls<F>;
}

/** A map's values made into others. */
export function mapValues<V, W>(
	map: Readonly<Record<string, V>>,
	make: (value: V, key: string) => W,
): Record<string, W> {
	return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, make(value, key)]));
}

/** The entries of a map of a document. */
export function entriesOfMap<V>(place: Place, map: Readonly<Record<string, V>> = {}): readonly Entry<V>[] {
	return Object.entries(map).map(([name, value]) => ({ name, place: [...place, name], value }));
}

/** Entries' values by name. */
export function valuesOf<V>(entries: readonly Entry<V>[]): ReadonlyMap<string, V> {
	return new Map(entries.map(({ name, value }) => [name, value]));
}

/** Entries in the order of their names, without a place: what an environment holds is nowhere in a document. */
export function sortedEntries<V>(values: readonly V[], nameOf: (value: V) => string): readonly Entry<V>[] {
	const entries = values.map((value) => ({ name: nameOf(value), place: [], value }));
	return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** The entries of a list of a document, those that are repeated once. */
export function entriesOfList<V>(
	place: Place,
	list: readonly V[] = [],
	nameOf: (value: V) => string,
): readonly Entry<V>[] {
	const entries = list.map((value, index) => ({ name: nameOf(value), place: [...place, index], value }));
	return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
}

/** What entries are called. */
export function namesIn(entries: readonly Entry<unknown>[]): readonly string[] {
	return entries.map(({ name }) => name);
}
