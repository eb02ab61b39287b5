import { refuseConditionsOverLimit } from '../domain/check-limit/condition-limit.js';
import { refuseEnvironmentOverLimit } from '../domain/check-limit/cycle-limit.js';
import { userResource } from '../domain/environment.js';
import { Failure, type Problem, unprocessable } from '../failure.js';
import { ConditionSet, childSets } from '../store/table/condition-set.js';
import { Resource } from '../store/table/resource.js';
import type { Change } from '../store/unit/change.js';
import { hasValues } from '../store/unit/change-record.js';
import { rowsWithIds, rowsWithKeys } from '../store/unit/keyed-rows.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import { instanceParts } from '../wire/common.js';
import type { Draft, DraftChange } from '../wire/general/draft.js';
import type { EnvironmentDocument } from '../wire/general/environment-document.js';
import { type AnyPart, documentParts, partsByKind } from './document-parts.js';
import { type DocumentPlace, type Entry, nestedName, unknownReference } from './part/part.js';
import { refuseStaleDraft } from './stale-draft.js';
import { importParts } from './transfer.js';

/** A draft change, in the form document parts need. */
interface PlannedChange {
	readonly change: DraftChange;
	readonly part: AnyPart;
	readonly entry: Entry<unknown>;
	/** Location in the draft. */
	readonly place: DocumentPlace;
}

/**
 * Applies all changes in a draft under the API rules. Deletes objects first, then creates and changes objects, each
 * kind after the kinds it refers to. INVARIANT: the unit has its own transaction. The change log does not yet contain
 * earlier writes in the same transaction, so conflicts with them would be missed.
 *
 * Throws `conflict` if an object in the draft changed after the base revision. Throws `duplicate` for a created object
 * that exists, and `not_found` for a changed or deleted object that is missing. Throws `unprocessable` for two changes
 * to the same object and for a base revision in the future. For all other errors, throws like `importDocument`.
 * Failures contain the position in the draft.
 */
export async function applyDraft(unit: WritingUnit, draft: Draft): Promise<void> {
	const planned = planChanges(draft, unit.now);
	await refuseStaleDraft(unit, draft);
	await refuseWrongExistence(unit, planned);
	refuseBuiltIn(planned);
	const narrowed = await setsNarrowing(unit, planned);
	const [gone, written] = [planned.filter(isDeletion), planned.filter((one) => !isDeletion(one))];
	for (const part of documentParts.toReversed()) {
		const entries = entriesIn(gone, part);
		if (entries.length > 0) await part.remove(unit, entries);
	}
	await refuseMissingResources(unit, written);
	await importParts(unit, (part) => entriesIn(written, part), 'overwrite');
	await refuseWidenedSets(unit, narrowed);
	refuseLostSets(unit, planned);
	if (unit.changes.some(leadsFurther)) await refuseEnvironmentOverLimit(unit);
	else if (unit.changes.some(isConditionalAssignment)) await refuseConditionsOverLimit(unit, 'all');
}

function isDeletion({ change }: PlannedChange): boolean {
	return change.operation === 'delete';
}

function entriesIn(planned: readonly PlannedChange[], wanted: AnyPart): readonly Entry<unknown>[] {
	return planned.flatMap(({ part, entry }) => (part === wanted ? [entry] : []));
}

/**
 * Returns the changes with their locations. Throws `unprocessable` for two changes to the same object, and for grants
 * whose expiry has passed.
 */
function planChanges({ changes }: Draft, now: Date): readonly PlannedChange[] {
	const known = new Map<string, DocumentPlace>();
	const problems: Problem[] = [];
	const planned = changes.map((change, index) => {
		const place = ['changes', index];
		const part = partsByKind[change.kind];
		const entry = { ...draftedEntry(part, change), place: [...place, 'value'] };
		const first = known.get(`${change.kind} ${entry.name}`);
		known.set(`${change.kind} ${entry.name}`, first ?? place);
		if (first !== undefined) {
			const msg = `must be the only change of its object, which \`${first.join('.')}\` already changes`;
			problems.push({ loc: ['body', ...place, part.list ? 'value' : 'key'], msg, type: 'value_error' });
		}
		problems.push(...endedProblems(change, place, now));
		return { change, part, entry, place };
	});
	if (problems.length > 0) throw unprocessable(problems);
	return planned;
}

/** Returns a problem for each new grant or invite whose expiry has already passed. */
function endedProblems({ operation, value }: DraftChange, place: DocumentPlace, now: Date): readonly Problem[] {
	if (operation === 'delete') return [];
	return (['expires_at', 'invite_expires_at'] as const).flatMap((member) => {
		const end: unknown = new Map(Object.entries(value ?? {})).get(member);
		if (typeof end !== 'string' || new Date(end) > now) return [];
		const msg = `must be in the future, got \`${end}\``;
		return [{ loc: ['body', ...place, 'value', member], msg, type: 'value_error' }];
	});
}

/** Returns the changed object in the form its part reads from a document. */
function draftedEntry(part: AnyPart, { key, value }: DraftChange): Omit<Entry<unknown>, 'place'> {
	if (key !== undefined && value === undefined) return { name: entryName(part, key), value };
	const [entry] = part.entriesIn(documentWith(part, key, value));
	if (entry === undefined) throw new Error(`no ${part.title} is at ${part.member.join('.')}`);
	return entry;
}

/** Returns the entry name for a key. The names of nested objects start with the resource key. */
function entryName({ member: [, , nested] }: AnyPart, key: string): string {
	const parts = instanceParts(key);
	return nested === undefined || parts === null ? key : nestedName(parts.resource, parts.key);
}

/** Builds a document with a single object. */
function documentWith(
	{ list, member: [half, member, nested] }: AnyPart,
	key = '',
	value: unknown,
): EnvironmentDocument {
	const { resource, key: own } = instanceParts(key) ?? { resource: key, key };
	const holder = nested === undefined ? value : { ...nothingNested, [nested]: { [own]: value } };
	const held = list ? [value] : { [nested === undefined ? key : resource]: holder };
	// A part reads only its own field, and the draft schema validates values like the document schema.
	return { [half]: { [member]: held } } as unknown as EnvironmentDocument;
}

const nothingNested = { relations: {}, action_groups: {}, roles: {} };

/**
 * Throws `duplicate` for a created object that exists, and `not_found` for a changed or deleted object that is missing.
 */
async function refuseWrongExistence(unit: WritingUnit, planned: readonly PlannedChange[]): Promise<void> {
	const held = new Map<AnyPart, ReadonlyMap<string, unknown>>();
	for (const part of documentParts) {
		const entries = entriesIn(planned, part);
		if (entries.length > 0) held.set(part, await part.stored(unit, entries));
	}
	for (const { change, part, entry, place } of planned) {
		const exists = held.get(part)?.has(entry.name) ?? false;
		if (exists === (change.operation !== 'create')) continue;
		const at = place.join('.');
		const message = `the ${part.title} \`${change.key ?? entry.name}\` ${exists ? 'already exists' : 'does not exist'}, at ${at}`;
		throw new Failure(exists ? 'duplicate' : 'not_found', message, { at });
	}
}

/** Throws if a change deletes the built-in resource. */
function refuseBuiltIn(planned: readonly PlannedChange[]): void {
	for (const { change, place } of planned) {
		if (change.kind !== 'resource' || change.operation !== 'delete' || change.key !== userResource.key) continue;
		const at = place.join('.');
		throw new Failure('invalid', `the resource \`${change.key}\` is built-in and cannot be deleted, at ${at}`, { at });
	}
}

/** Throws for nested objects whose resource does not exist and is not created in the draft. */
async function refuseMissingResources(unit: WritingUnit, written: readonly PlannedChange[]): Promise<void> {
	const nested = written.flatMap(({ change, part, place }) => {
		const resource = part.member[2] === undefined ? undefined : instanceParts(change.key ?? '')?.resource;
		return resource === undefined ? [] : [{ resource, place }];
	});
	const created = new Set(written.flatMap(({ change }) => (change.kind === 'resource' ? [change.key] : [])));
	const names = nested.map(({ resource }) => resource);
	const stored = await rowsWithKeys(unit, Resource, names);
	for (const { resource, place } of nested) {
		if (created.has(resource) || stored.has(resource)) continue;
		throw unknownReference([...place, 'key'], Resource.title, resource);
	}
}

/** A condition set outside the draft whose parent is in the draft. */
interface NarrowingSet {
	readonly child: ConditionSet;
	readonly parent: string;
	/** Location of the parent's change in the draft. */
	readonly place: DocumentPlace;
}

async function setsNarrowing(unit: WritingUnit, planned: readonly PlannedChange[]): Promise<readonly NarrowingSet[]> {
	const named = new Map(
		planned.flatMap(({ change, place }) => (change.kind === 'condition_set' ? [[change.key, place] as const] : [])),
	);
	const parents = await rowsWithKeys(unit, ConditionSet, named.keys(), { autogenerated: false });
	const byId = new Map([...parents].map(([key, { id }]) => [id, key]));
	const children = await childSets(unit, [...byId.keys()]).all();
	return children.flatMap((child) => {
		const parent = byId.get(child.parent_id ?? '') ?? '';
		return named.has(child.key) ? [] : [{ child, parent, place: named.get(parent) ?? [] }];
	});
}

/**
 * Rejects a draft that would leave other condition sets without their parent, because these sets would then select
 * more.
 */
async function refuseWidenedSets(unit: WritingUnit, narrowed: readonly NarrowingSet[]): Promise<void> {
	const childIds = narrowed.map(({ child }) => child.id);
	const rows = await rowsWithIds(unit, ConditionSet, childIds);
	for (const { child, parent, place } of narrowed) {
		if (rows.get(child.id)?.parent_id !== null) continue;
		const at = place.join('.');
		const message = `the condition set \`${parent}\` is the parent of \`${child.key}\`, which would select more without it, at ${at}`;
		throw new Failure('invalid', message, { at });
	}
}

/**
 * Rejects a draft that deletes a role in `grantable_to` of a role that the draft does not change. Throws `conflict`.
 */
function refuseLostSets({ changes }: WritingUnit, planned: readonly PlannedChange[]): void {
	const named = new Set(planned.map(({ change }) => `${change.kind} ${change.key}`));
	for (const { kind, operation, key, before, after } of changes) {
		if (kind !== 'role' || operation !== 'update' || named.has(`resource_role ${key}`)) continue;
		const [was, is] = [before?.['grantable_to'], after?.['grantable_to']];
		if (hasValues({ was }, { was: is })) continue;
		const message = `\`grantable_to\` of the role \`${key}\` contains a deleted role: change the role \`${key}\` too`;
		throw new Failure('conflict', message, { role: key });
	}
}

/**
 * True if a change can make checks longer: a new relationship, a changed derivation, changed conditions, a computed
 * role, or a user set that names roles.
 */
function leadsFurther({ kind, operation, before, after }: Change): boolean {
	if (operation === 'delete') return false;
	if (kind === 'relationship_tuple') return operation === 'create';
	if (kind === 'condition_set') {
		return after?.['type'] === 'grant' || (after?.['type'] === 'userset' && after['resource_id'] !== null);
	}
	const differs = (member: string) => {
		const [was, is] = [before?.[member] ?? null, after?.[member] ?? null];
		return !hasValues({ [member]: was }, { [member]: is });
	};
	if (kind === 'relation') return operation === 'update' && differs('grant_conditions');
	if (kind !== 'role') return false;
	return differs('granted_to') || differs('grantable_to') || differs('computed');
}

/** True for a created or changed conditional assignment. */
function isConditionalAssignment({ kind, operation, after }: Change): boolean {
	return kind === 'role_assignment' && operation !== 'delete' && after?.['condition'] !== undefined;
}
