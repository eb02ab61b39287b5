import { Failure, unprocessable } from '../failure.js';
import type { Change } from '../store/change.js';
import { holds, type ReadingUnit, type WritingUnit } from '../store/unit.js';
import type { CopyFilter, CopyScope } from '../wire/environment-copy.js';
import { documentFormat, documentVersion, type EnvironmentDocument } from '../wire/environment-document.js';
import { type ImportReport, type ImportStrategy, maxListedChanges } from '../wire/environment-import.js';
import { refuseEveryCrowd } from './circle-limit.js';
import { actionGroupPart } from './transfer-action-group.js';
import { roleAssignmentPart, tenantUserPart } from './transfer-assignment.js';
import { conditionSetPart } from './transfer-condition-set.js';
import { tenantPart, userPart } from './transfer-facts.js';
import { groupPart, madeForGroupsPart } from './transfer-group.js';
import { instancePart } from './transfer-instance.js';
import { userInvitePart } from './transfer-invite.js';
import { type CopyPass, type Entry, nestedKeys, type Part, portionsOf } from './transfer-part.js';
import { relationPart } from './transfer-relation.js';
import { resourceRolePart, rolePart } from './transfer-role.js';
import { resourcePart, userAttributePart } from './transfer-schema.js';
import { setRulePart } from './transfer-set-rule.js';
import { tuplePart } from './transfer-tuple.js';

/** Any kind of object, whatever it is in documents; only it reads and writes its own values. */
type AnyPart = Part<unknown>;

/** The kinds of objects in documents, each after those that it refers to. */
const parts: readonly AnyPart[] = [
	asAny(resourcePart),
	asAny(relationPart),
	asAny(actionGroupPart),
	asAny(resourceRolePart),
	asAny(userAttributePart),
	asAny(rolePart),
	asAny(conditionSetPart),
	asAny(setRulePart),
	asAny(tenantPart),
	asAny(userPart),
	asAny(tenantUserPart),
	asAny(instancePart),
	asAny(groupPart),
	asAny(madeForGroupsPart),
	asAny(tuplePart),
	asAny(roleAssignmentPart),
	asAny(userInvitePart),
];

function asAny<V>(part: Part<V>): AnyPart {
	// Each part gets only values that it made itself, from a document or from an environment.
	return part as unknown as AnyPart;
}

/**
 * An environment as the text of a document, in pieces: the unit should be a snapshot's. Equal environments give equal
 * text. Objects of the schema have several lines, each fact has one, so that two documents can be compared by line.
 */
export async function exportDocument(
	unit: ReadingUnit,
	environment: { readonly key: string; readonly name: string },
): Promise<readonly string[]> {
	const { key, name } = environment;
	const pieces = [
		`{\n\t"format": "${documentFormat}",\n\t"version": ${documentVersion},\n`,
		`\t"environment": ${JSON.stringify({ key, name })}`,
	];
	for (const half of ['schema', 'facts'] as const) {
		pieces.push(`,\n\t"${half}": {`);
		let separator = '\n';
		for (const part of parts.filter(({ member: [of, , nested] }) => of === half && nested === undefined)) {
			pieces.push(`${separator}\t\t"${part.member[1]}": `, ...(await textOf(unit, part)));
			separator = ',\n';
		}
		pieces.push('\n\t}');
	}
	pieces.push('\n}\n');
	return pieces;
}

async function textOf(unit: ReadingUnit, part: AnyPart): Promise<readonly string[]> {
	const [open, close] = part.list ? ['[', ']'] : ['{', '}'];
	const nestedIn = await nestedObjects(unit, part);
	const pieces: string[] = [];
	for await (const entries of part.portions(unit)) {
		if (entries.length === 0) continue;
		const lines = entries.map((entry) => `\t\t\t${lineOf(part, entry, nestedIn.get(entry.name))}`);
		pieces.push(`${pieces.length === 0 ? open : ','}\n${lines.join(',\n')}`);
	}
	return pieces.length === 0 ? [open + close] : [...pieces, `\n\t\t${close}`];
}

function lineOf(part: AnyPart, { name, value }: Entry<unknown>, nested: object = {}): string {
	if (part.list) return JSON.stringify(part.shown(value));
	const shown = Object.assign({}, part.shown(value), nested);
	const [half] = part.member;
	const text =
		half === 'facts' ? JSON.stringify(shown) : JSON.stringify(shown, null, '\t').replaceAll('\n', '\n\t\t\t');
	return `${JSON.stringify(name)}: ${text}`;
}

/** What is inside of a part's objects, by their names: for each member, what it holds by key. */
async function nestedObjects(
	unit: ReadingUnit,
	{ member: [half, member] }: AnyPart,
): Promise<ReadonlyMap<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>> {
	const objects = new Map<string, Record<string, Record<string, unknown>>>();
	for (const part of parts) {
		const [ofHalf, ofMember, nested] = part.member;
		if (ofHalf !== half || ofMember !== member || nested === undefined) continue;
		for await (const entries of part.portions(unit)) {
			for (const { name, value } of entries) {
				const [holder, key] = nestedKeys(name);
				const object = objects.get(holder) ?? {};
				object[nested] ??= {};
				object[nested][key] = part.shown(value);
				objects.set(holder, object);
			}
		}
	}
	return objects;
}

/** Objects to be brought into an environment: those of one kind, whichever is asked for. */
type Given = (part: AnyPart) => readonly Entry<unknown>[];

/**
 * Makes an environment be as a document says. What it names and is there with other content fails the whole
 * (`duplicate`), or becomes as the document says; what it does not name stays, but goes with `replace`. Throws
 * `not_found` and `unprocessable` for what the API refuses, with the place in the document, and `limit_reached`.
 */
export async function importDocument(
	unit: WritingUnit,
	document: EnvironmentDocument,
	strategy: ImportStrategy,
): Promise<void> {
	const given: Given = (part) => part.entriesOf(document);
	if (strategy === 'replace') {
		requireWhole(document);
		for (const part of parts.toReversed()) await removeOthers(unit, part, given);
	}
	await bringAll(unit, given, strategy);
	// Its tuples come in portions, and each would look at most of what those before it brought.
	await refuseEveryCrowd(unit);
}

/** Objects of the schema, taken out of one environment for another. */
export type SchemaCopy = ReadonlyMap<AnyPart, readonly Entry<unknown>[]>;

/** Takes the objects of the schema that are in the scope; the unit should be a snapshot's. */
export async function takeSchema(unit: ReadingUnit, scope: Pick<CopyScope, CopyPass[0]>): Promise<SchemaCopy> {
	const taken = new Map<AnyPart, readonly Entry<unknown>[]>();
	const filters = {
		...{ resources: filterOf(scope.resources), roles: filterOf(scope.roles) },
		...{ user_sets: filterOf(scope.user_sets), resource_sets: filterOf(scope.resource_sets) },
	};
	for (const part of parts) {
		const { scope: scopeOf } = part;
		if (scopeOf === null) continue;
		const all: Entry<unknown>[] = [];
		for await (const entries of part.portions(unit)) all.push(...entries);
		taken.set(
			part,
			all.filter((entry) => scopeOf(entry).every(([filter, key]) => filters[filter](key))),
		);
	}
	return taken;
}

/** Brings objects of a schema into an environment, as `importDocument` does. */
export async function bringSchema(unit: WritingUnit, copy: SchemaCopy, strategy: 'fail' | 'overwrite'): Promise<void> {
	await bringAll(unit, (part) => copy.get(part) ?? [], strategy);
}

/** Whether a key is among those that a filter lets through. */
function filterOf({ include, exclude }: CopyFilter): (key: string) => boolean {
	const [included, excluded] = [include.map(patternOf), exclude.map(patternOf)];
	return (key) =>
		(included.length === 0 || included.some((pattern) => pattern.test(key))) &&
		!excluded.some((pattern) => pattern.test(key));
}

function patternOf(text: string): RegExp {
	const literal = text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&');
	return new RegExp(`^${literal.replace(/\*+/g, '.*')}$`, 's');
}

/** A document without one of its halves would empty that half of the environment: surely not what was meant. */
function requireWhole(document: EnvironmentDocument): void {
	const missing = (['schema', 'facts'] as const).filter((half) => document[half] === undefined);
	if (missing.length === 0) return;
	throw unprocessable(
		missing.map((half) => ({ loc: ['body', half], msg: 'field required to replace', type: 'missing' })),
	);
}

async function removeOthers(unit: WritingUnit, part: AnyPart, given: Given): Promise<void> {
	const named = new Set(given(part).map(({ name }) => name));
	for await (const entries of part.portions(unit)) {
		const others = entries.filter(({ name }) => !named.has(name));
		if (others.length > 0) await part.remove(unit, others);
	}
}

async function bringAll(unit: WritingUnit, given: Given, strategy: ImportStrategy): Promise<void> {
	for (const part of parts) await bring(unit, part, given(part), strategy);
}

async function bring(
	unit: WritingUnit,
	part: AnyPart,
	given: readonly Entry<unknown>[],
	strategy: ImportStrategy,
): Promise<void> {
	const wanted: (Entry<unknown> & { readonly exists: boolean })[] = [];
	for (const entries of portionsOf(given)) {
		const held = await part.held(unit, entries);
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
	for (const entries of portionsOf(wanted)) await part.write(unit, entries);
}

/** Whether the store would hold one as the other: it keeps JSON, in which -0 is 0. */
function isSame(wanted: unknown, held: unknown): boolean {
	return holds({ held }, { held: wanted }) || holds({ held }, { held: JSON.parse(JSON.stringify(wanted)) });
}

const maxNamedConflicts = 10;

function refuseConflicts({ title, member }: AnyPart, conflicts: readonly Entry<unknown>[]): void {
	if (conflicts.length === 0) return;
	const names = conflicts.slice(0, maxNamedConflicts).map(({ name }) => name);
	const more = conflicts.length > names.length ? `, and ${conflicts.length - names.length} more` : '';
	const message = `the ${title} ${names.map((name) => `\`${name}\``).join(', ')}${more} already exists with other content`;
	throw new Failure('duplicate', message, { at: member.join('.'), names, conflicts: conflicts.length });
}

/** What a unit changed. */
export function reportOf(changes: readonly Change[], dry_run: boolean): ImportReport {
	const counts: Record<string, { create: number; update: number; delete: number }> = {};
	for (const { kind, operation } of changes) {
		counts[kind] ??= { create: 0, update: 0, delete: 0 };
		counts[kind][operation] += 1;
	}
	const listed = changes.slice(0, maxListedChanges).map(({ kind, operation, key }) => ({ kind, operation, key }));
	return { dry_run, total: changes.length, counts, changes: listed };
}
