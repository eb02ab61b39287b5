import { refuseEnvironmentOverLimit } from '../domain/check-limit/cycle-limit.js';
import { refuseWrongConditions } from '../domain/schema/grant-condition.js';
import { refuseMissingRoles } from '../domain/schema/named-role.js';
import { refuseMissingResources } from '../domain/schema/related-resource.js';
import { Failure, unprocessable } from '../failure.js';
import { forEachAtOnce } from '../limit/for-each-at-once.js';
import { nextTurn } from '../limit/next-turn.js';
import type { Change } from '../store/unit/change.js';
import { hasValues } from '../store/unit/change-record.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { CopyFilter, CopyScope } from '../wire/general/environment-copy.js';
import {
	type DocumentHalf,
	documentFormat,
	documentHalves,
	documentVersion,
	type EnvironmentDocument,
} from '../wire/general/environment-document.js';
import {
	type ChangeReport,
	type ImportReport,
	type ImportStrategy,
	maxListedChanges,
} from '../wire/general/environment-import.js';
import { type AnyPart, documentParts as parts } from './document-parts.js';
import { type CopyPass, chunked, type Entry, nestedKeys } from './part/part.js';

/**
 * Returns the document for an environment, or for one half, as strings to concatenate. The unit should read a snapshot.
 * Equal environments give equal documents. A schema object takes several lines and a fact takes a single line, so
 * documents can be compared by line.
 */
export async function exportDocument(
	unit: ReadingUnit,
	environment: { readonly key: string; readonly name: string },
	halves: readonly DocumentHalf[] = documentHalves,
): Promise<readonly string[]> {
	const { key, name } = environment;
	const pieces = [
		`{\n\t"format": "${documentFormat}",\n\t"version": ${documentVersion},\n`,
		`\t"environment": ${JSON.stringify({ key, name })}`,
	];
	for (const half of halves) {
		pieces.push(`,\n\t"${half}": {`);
		let separator = '\n';
		for (const part of parts.filter(({ member: [of, , nested] }) => of === half && nested === undefined)) {
			pieces.push(`${separator}\t\t"${part.member[1]}": `, ...(await renderPart(unit, part)));
			separator = ',\n';
		}
		pieces.push('\n\t}');
	}
	pieces.push('\n}\n');
	return pieces;
}

async function renderPart(unit: ReadingUnit, part: AnyPart): Promise<readonly string[]> {
	const [open, close] = part.list ? ['[', ']'] : ['{', '}'];
	const nestedIn = await nestedObjects(unit, part);
	const pieces: string[] = [];
	for await (const entries of part.chunks(unit)) {
		if (entries.length === 0) continue;
		const lines = entries.map((entry) => `\t\t\t${renderEntry(part, entry, nestedIn.get(entry.name))}`);
		pieces.push(`${pieces.length === 0 ? open : ','}\n${lines.join(',\n')}`);
	}
	return pieces.length === 0 ? [open + close] : [...pieces, `\n\t\t${close}`];
}

function renderEntry(part: AnyPart, { name, value }: Entry<unknown>, nested: object = {}): string {
	if (part.list) return JSON.stringify(part.toDocument(value));
	const shown = Object.assign({}, part.toDocument(value), nested);
	const [half] = part.member;
	const text =
		half === 'facts' ? JSON.stringify(shown) : JSON.stringify(shown, null, '\t').replaceAll('\n', '\n\t\t\t');
	return `${JSON.stringify(name)}: ${text}`;
}

/** Returns the objects nested in a part's objects, keyed by object name, field and key. */
async function nestedObjects(
	unit: ReadingUnit,
	{ member: [half, member] }: AnyPart,
): Promise<ReadonlyMap<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>> {
	const objects = new Map<string, Record<string, Record<string, unknown>>>();
	for (const part of parts) {
		const [ofHalf, ofMember, nested] = part.member;
		if (ofHalf !== half || ofMember !== member || nested === undefined) continue;
		for await (const entries of part.chunks(unit)) {
			for (const { name, value } of entries) {
				const [holder, key] = nestedKeys(name);
				const object = objects.get(holder) ?? {};
				object[nested] ??= {};
				object[nested][key] = part.toDocument(value);
				objects.set(holder, object);
			}
		}
	}
	return objects;
}

/** Returns the objects to import for a part. */
export type Given = (part: AnyPart) => readonly Entry<unknown>[];

/**
 * Imports a document into an environment. If an object exists with different content, `strategy` decides whether the
 * whole import fails (`duplicate`) or the object is overwritten. Existing objects outside the document stay, unless the
 * strategy is `replace`, which deletes them. Skips grants whose expiry has passed. Throws `not_found` and
 * `unprocessable` for objects that the API rejects, with the place in the document. Throws `limit_reached`.
 */
export async function importDocument(
	unit: WritingUnit,
	document: EnvironmentDocument,
	strategy: ImportStrategy,
): Promise<ImportOutcome> {
	const entries = new Map<AnyPart, readonly Entry<unknown>[]>();
	let expired = 0;
	for (const part of parts) {
		const all = part.entriesIn(document);
		const holding = all.filter(({ value }) => !hasExpired(value, unit.now));
		expired += all.length - holding.length;
		entries.set(part, holding);
		await nextTurn();
	}
	const given: Given = (part) => entries.get(part) ?? [];
	if (strategy === 'replace') {
		requireBothHalves(document);
		for (const part of parts.toReversed()) await removeOthers(unit, part, given);
	}
	await importParts(unit, given, strategy);
	// Check the limit only once, at the end: tuples are written in chunks, and a check for each chunk would repeat most
	// of the work.
	await refuseEnvironmentOverLimit(unit);
	return { expired };
}

/** The result of an import, apart from its changes. */
export interface ImportOutcome {
	/** Number of grants skipped because their expiry had passed. */
	readonly expired: number;
}

/** True if the expiry of a grant or invite has passed. */
function hasExpired(value: unknown, now: Date): boolean {
	const { expires_at, invite_expires_at } = Object(value) as Readonly<Record<string, unknown>>;
	return [expires_at, invite_expires_at].some((end) => typeof end === 'string' && new Date(end) <= now);
}

/** Schema objects to copy from one environment to another. */
export type SchemaCopy = ReadonlyMap<AnyPart, readonly Entry<unknown>[]>;

/** Reads the schema objects in the scope. The unit should read a snapshot. */
export async function extractSchema(unit: ReadingUnit, scope: Pick<CopyScope, CopyPass[0]>): Promise<SchemaCopy> {
	const taken = new Map<AnyPart, readonly Entry<unknown>[]>();
	const filters = {
		resources: keyFilter(scope.resources),
		roles: keyFilter(scope.roles),
		user_sets: keyFilter(scope.user_sets),
		resource_sets: keyFilter(scope.resource_sets),
	};
	for (const part of parts) {
		const { scope: copyPasses } = part;
		if (copyPasses === null) continue;
		const all: Entry<unknown>[] = [];
		for await (const entries of part.chunks(unit)) all.push(...entries);
		taken.set(
			part,
			all.filter((entry) => copyPasses(entry, all).every(([filter, key]) => filters[filter](key))),
		);
	}
	return taken;
}

/** Writes schema objects into an environment, like `importDocument`. */
export async function applySchema(unit: WritingUnit, copy: SchemaCopy, strategy: 'fail' | 'overwrite'): Promise<void> {
	await importParts(unit, (part) => copy.get(part) ?? [], strategy);
	await refuseEnvironmentOverLimit(unit);
}

/** Returns the predicate for a filter. */
function keyFilter({ include, exclude }: CopyFilter): (key: string) => boolean {
	const [included, excluded] = [include.map(wildcardPattern), exclude.map(wildcardPattern)];
	return (key) =>
		(included.length === 0 || included.some((pattern) => pattern.test(key))) &&
		!excluded.some((pattern) => pattern.test(key));
}

function wildcardPattern(text: string): RegExp {
	const literal = text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&');
	return new RegExp(`^${literal.replace(/\*+/g, '.*')}$`, 's');
}

/**
 * Throws if a half is missing in the document, because `replace` would then silently empty this half of the
 * environment.
 */
function requireBothHalves(document: EnvironmentDocument): void {
	const missing = documentHalves.filter((half) => document[half] === undefined);
	if (missing.length === 0) return;
	throw unprocessable(
		missing.map((half) => ({
			loc: ['body', half],
			msg: 'field required with the conflict strategy `replace`',
			type: 'missing',
		})),
	);
}

async function removeOthers(unit: WritingUnit, part: AnyPart, given: Given): Promise<void> {
	const named = new Set(given(part).map(({ name }) => name));
	for await (const entries of part.chunks(unit)) {
		const others = entries.filter(({ name }) => !named.has(name));
		if (others.length > 0) await part.remove(unit, others);
	}
}

/**
 * Imports objects, each kind after the kinds it refers to. Throws like `importDocument`, `refuseMissingRoles` and
 * `refuseMissingResources`.
 */
export async function importParts(unit: WritingUnit, given: Given, strategy: ImportStrategy): Promise<void> {
	for (const part of parts) await importPart(unit, part, given(part), strategy);
	await refuseMissingRoles(unit);
	await refuseMissingResources(unit);
	await refuseWrongConditions(unit);
}

const nothing: ReadonlyMap<string, unknown> = new Map();

async function importPart(
	unit: WritingUnit,
	part: AnyPart,
	given: readonly Entry<unknown>[],
	strategy: ImportStrategy,
): Promise<void> {
	const wanted: (Entry<unknown> & { readonly exists: boolean })[] = [];
	const isNew = given.length > 0 && (await part.isEmpty?.(unit)) === true;
	for (const entries of chunked(given)) {
		const held = isNew ? nothing : await part.stored(unit, entries);
		for (const entry of entries) {
			const exists = held.has(entry.name);
			if (!exists || !isSame(entry.value, held.get(entry.name))) wanted.push({ ...entry, exists });
		}
	}
	if (strategy === 'fail')
		refuseConflicts(
			part,
			wanted.filter(({ exists }) => exists),
		);
	if (part.member[0] === 'schema') return part.write(unit, wanted);
	// New facts of a kind do not depend on each other. While the database writes a chunk, the next chunk is prepared.
	const atOnce = wanted.some(({ exists }) => exists) ? 1 : 2;
	await forEachAtOnce(chunked(wanted), atOnce, (entries) => part.write(unit, entries));
}

/** True if both values are equal once stored: JSON turns -0 into 0. */
function isSame(wanted: unknown, held: unknown): boolean {
	return hasValues({ held }, { held: wanted }) || hasValues({ held }, { held: JSON.parse(JSON.stringify(wanted)) });
}

const maxNamedConflicts = 10;

function refuseConflicts({ title, member }: AnyPart, conflicts: readonly Entry<unknown>[]): void {
	if (conflicts.length === 0) return;
	const names = conflicts.slice(0, maxNamedConflicts).map(({ name }) => name);
	const more = conflicts.length > names.length ? `, and ${conflicts.length - names.length} more` : '';
	const message = `the ${title} ${names.map((name) => `\`${name}\``).join(', ')}${more} already exists with different content`;
	throw new Failure('duplicate', message, { at: member.join('.'), names, conflicts: conflicts.length });
}

export function importReport(changes: readonly Change[], dry_run: boolean, { expired }: ImportOutcome): ImportReport {
	return { dry_run, expired, ...changeReport(changes) };
}

/** Returns the report about the changes in a unit. */
export function changeReport(changes: readonly Change[]): ChangeReport {
	const counts: Record<string, { create: number; update: number; delete: number }> = {};
	for (const { kind, operation } of changes) {
		counts[kind] ??= { create: 0, update: 0, delete: 0 };
		counts[kind][operation] += 1;
	}
	const listed = changes.slice(0, maxListedChanges).map(({ kind, operation, key }) => ({ kind, operation, key }));
	return { total: changes.length, counts, changes: listed };
}
