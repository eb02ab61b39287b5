import { Failure, notFound, type Problem, unprocessable } from '../../failure.js';
import { onlyRow } from '../../store/query/only-row.js';
import {
	ancestorSetIds,
	ConditionSet,
	childSets,
	deleteConditionSets,
	descendantSetIds,
	writtenSets,
} from '../../store/table/condition-set.js';
import type { KeyedModel } from '../../store/table/environment-model.js';
import { relationsWithConditions } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { Role, rolesOfResources } from '../../store/table/role.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import { rowsWithIds } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Columns, TableModel } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ConditionSetCreate, ConditionSetUpdate } from '../../wire/schema/condition-set.js';
import { refuseConditionsOverLimit } from '../check-limit/condition-limit.js';
import { refuseRelationsOverLimit, refuseRolesOverLimit } from '../check-limit/cycle-limit.js';
import { refuseTakenKeys } from '../refuse-taken-keys.js';
import { conditionProblems, mayNameRoles } from './condition-check.js';
import { definedFields } from './defined-fields.js';
import { refuseDeclaredSet, refuseExcludedConditions, refuseUsedParameters } from './grant-condition.js';
import { removeSetRules } from './set-rule-record.js';

/** A location in a request body. The same object is nested deeper in an import than in its own request. */
export type RequestPlace = readonly (string | number)[];

const body: RequestPlace = ['body'];
const parentPlace: RequestPlace = ['body', 'parent_id'];

/**
 * Adds a condition set. Throws `duplicate` if its key is taken, `not_found` for its resource or parent, `limit_reached`
 * if checks would take too long, and `unprocessable` with all other problems together.
 */
export async function createConditionSet(unit: WritingUnit, given: ConditionSetCreate): Promise<ConditionSet> {
	const { key, name, type, conditions, description = null } = given;
	const parameters = type === 'grant' ? (given.parameters ?? {}) : null;
	const resource_id = given.resource_id === undefined ? null : (await unit.find(Resource, given.resource_id)).id;
	const missing = type === 'resourceset' && resource_id === null;
	const parent = given.parent_id === undefined ? null : await unit.find(ConditionSet, given.parent_id);
	const checked = { type, conditions, parameters, ...(!missing && { resource_id }) };
	refuseProblems([
		...parameterProblems(type, given.parameters),
		...resourceProblems({ type, conditions, resource_id }, given),
		...(parent === null ? [] : parentProblems(parent, checked)),
		...(await conditionProblems(unit, checked, [...body, 'conditions'])),
	]);
	await refuseTakenKeys(unit, ConditionSet, [key]);
	const columns = { key, name, type, conditions, description, resource_id, parent_id: parent?.id ?? null, parameters };
	const set = await addConditionSet(unit, columns);
	if (type === 'userset' && resource_id !== null) {
		// Checks look up the named roles a second time.
		const roles = await rolesOfResources(unit, [resource_id]).all();
		await refuseRolesOverLimit(
			unit,
			roles.map(({ id }) => id),
		);
		await refuseExcludedConditions(unit, [...body, 'conditions']);
	}
	return set;
}

/** Inserts a set and records it. */
export async function addConditionSet(unit: WritingUnit, columns: Columns<ConditionSet>): Promise<ConditionSet> {
	return onlyRow(await addConditionSets(unit, [columns]));
}

/** Inserts sets and records them. */
export async function addConditionSets(
	unit: WritingUnit,
	columns: readonly Columns<ConditionSet>[],
): Promise<readonly ConditionSet[]> {
	const stamped = columns.map((one) => ({ ...one, ...unit.stamp() }));
	const sets = await unit.insert(ConditionSet, stamped, ({ key }) => String(key));
	const record = await loadRecords(unit, sets);
	for (const set of sets) unit.record('condition_set', 'create', set.key, null, record(set));
	return sets;
}

/**
 * Changes the passed set fields; null removes the description or parent. Throws `invalid` for an automatic set,
 * `unprocessable` if the new parent narrows the set itself, `limit_reached` if checks would take too long, and otherwise
 * like `createConditionSet`.
 */
export async function changeConditionSet(
	unit: WritingUnit,
	set: ConditionSet,
	given: ConditionSetUpdate,
): Promise<ConditionSet> {
	const { name, description, conditions, parent_id, parameters } = given;
	const parent = parent_id ? await unit.find(ConditionSet, parent_id) : null;
	const parentGiven = parent_id === undefined ? undefined : (parent?.id ?? null);
	const columns = definedFields({ name, description, conditions, parent_id: parentGiven, parameters });
	if (hasValues(set, columns)) return set;
	if (set.autogenerated) {
		throw new Failure('invalid', `the condition set \`${set.key}\` is automatic and cannot be changed`);
	}
	const isGiven = parameters !== undefined && !hasValues(set, { parameters });
	if (isGiven && set.type === 'grant') await refuseUsedParameters(unit, set);
	const now = { ...set, conditions: conditions ?? set.conditions, parameters: parameters ?? set.parameters };
	refuseProblems([
		...parameterProblems(set.type, parameters),
		...(parent === null ? [] : [...parentProblems(parent, set), ...(await cycleProblems(unit, parent, set))]),
		// Do not check unchanged conditions again, because an attribute in them may have been deleted since.
		...(!isGiven && (conditions === undefined || hasValues(set, { conditions }))
			? []
			: await conditionProblems(unit, now, [...body, 'conditions'])),
	]);
	const after = { ...set, ...(conditions !== undefined && { conditions }) };
	if (hasNeedlessResource(after, parentGiven === undefined ? set.parent_id : parentGiven)) {
		const msg = 'must compare `user.resource_roles`, because the user set has a resource and no parent';
		throw unprocessable([{ loc: [...body, 'conditions'], msg, type: 'value_error' }]);
	}
	const changed = await rewriteConditionSet(unit, set, columns);
	if (set.type === 'grant' && conditions !== undefined) {
		const relations = (await relationsWithConditions(unit)).filter((row) => row.grant_conditions.includes(set.key));
		await refuseRelationsOverLimit(
			unit,
			relations.map(({ id }) => id),
		);
		if (relations.length === 0) await refuseConditionsOverLimit(unit, 'all');
	}
	if (set.type === 'userset' && set.resource_id !== null) {
		await refuseExcludedConditions(unit, [...body, 'conditions']);
	}
	return changed;
}

/** Deletes a set like `removeConditionSets`. Throws `conflict` if a role or relation declares it. */
export async function removeConditionSet(unit: WritingUnit, set: ConditionSet): Promise<void> {
	if (set.type === 'grant') await refuseDeclaredSet(unit, set);
	await removeConditionSets(unit, [set]);
}

/** Changes set columns and records the change. Does nothing if the columns already have these values. */
export async function rewriteConditionSet(
	unit: WritingUnit,
	set: ConditionSet,
	columns: Columns<ConditionSet>,
): Promise<ConditionSet> {
	if (hasValues(set, columns)) return set;
	const after = await unit.change(ConditionSet, set, columns);
	const record = await loadRecords(unit, [set, after]);
	unit.record('condition_set', 'update', set.key, record(set), record(after));
	return after;
}

/**
 * Deletes sets with their rules. Throws `invalid` if a remaining set has a deleted parent, because the remaining set
 * would then select more.
 */
export async function removeConditionSets(unit: WritingUnit, sets: readonly ConditionSet[]): Promise<void> {
	if (sets.length === 0) return;
	const ids = sets.map((set) => set.id);
	const going = new Set(ids);
	const child = (await childSets(unit, ids).all()).find(({ id }) => !going.has(id));
	if (child !== undefined) throw stillNarrowed(sets, child);
	await removeSetRules(unit, { set_ids: ids });
	const record = await loadRecords(unit, sets);
	await deleteConditionSets(unit, ids);
	for (const set of sets) unit.record('condition_set', 'delete', set.key, record(set), null);
}

function stillNarrowed(sets: readonly ConditionSet[], child: ConditionSet): Failure {
	const parent = sets.find(({ id }) => id === child.parent_id)?.key ?? '';
	const message = `the condition set \`${parent}\` is the parent of \`${child.key}\`, which might match more without its parent`;
	return new Failure('invalid', message);
}

/** Returns change log records for sets, with the keys of referenced objects. */
async function loadRecords(
	unit: ReadingUnit,
	sets: readonly ConditionSet[],
): Promise<(set: ConditionSet) => ChangedRecord> {
	const resources = await findReferred(unit, Resource, distinctIds(sets, 'resource_id'));
	const roles = await findReferred(unit, Role, distinctIds(sets, 'role_id'));
	const parents = await findReferred(unit, ConditionSet, distinctIds(sets, 'parent_id'));
	return (set) => ({
		...changeRecord(set),
		resource: resources.get(set.resource_id ?? '')?.key ?? null,
		role: roles.get(set.role_id ?? '')?.key ?? null,
		parent: parents.get(set.parent_id ?? '')?.key ?? null,
	});
}

async function findReferred<M extends KeyedModel>(unit: ReadingUnit, table: TableModel<M>, ids: readonly string[]) {
	return ids.length === 0 ? new Map<string, M>() : rowsWithIds(unit, table, ids);
}

function distinctIds(
	sets: readonly ConditionSet[],
	column: 'resource_id' | 'role_id' | 'parent_id',
): readonly string[] {
	return [...new Set(sets.flatMap((set) => set[column] ?? []))];
}

/** Throws `unprocessable` if there are any problems. */
export function refuseProblems(problems: readonly Problem[]): void {
	if (problems.length > 0) throw unprocessable(problems);
}

/** True for a user set with a resource that names no roles on it, and has no parent that does. */
export function hasNeedlessResource(
	{ type, conditions, resource_id }: Pick<ConditionSet, 'type' | 'conditions' | 'resource_id'>,
	parent: string | null | undefined,
): boolean {
	return type === 'userset' && resource_id !== null && (parent ?? null) === null && !mayNameRoles(conditions);
}

/**
 * Returns the problems with the resource of a new set. A resource set needs a resource. A user set needs one to name
 * roles, and must have none otherwise, because the caller probably forgot the type. `given` is the request.
 */
export function resourceProblems(
	{ type, conditions, resource_id }: Pick<ConditionSet, 'type' | 'conditions' | 'resource_id'>,
	given: { readonly resource_id?: string | undefined; readonly parent_id?: string | undefined },
): readonly Problem[] {
	const loc = [...body, 'resource_id'];
	if (type === 'grant') {
		return resource_id === null
			? []
			: [
					{
						loc,
						msg: `must be omitted for a set of type \`grant\`, got \`${given.resource_id}\``,
						type: 'value_error',
					},
				];
	}
	if (type === 'resourceset') {
		return resource_id === null ? [{ loc, msg: 'field required for a resource set', type: 'missing' }] : [];
	}
	if (resource_id === null || !hasNeedlessResource({ type, conditions, resource_id }, given.parent_id)) return [];
	const msg = `must be omitted for a user set that does not compare \`user.resource_roles\`, got \`${given.resource_id}\``;
	return [{ loc, msg, type: 'value_error' }];
}

/**
 * Returns the problems with a parent. A parent must have the same type and resource as the set, and must not be
 * automatic.
 */
export function parentProblems(
	parent: ConditionSet,
	set: Pick<ConditionSet, 'type'> & { readonly resource_id?: string | null },
	at: RequestPlace = parentPlace,
): readonly Problem[] {
	const problem = (msg: string) => [{ loc: [...at], msg, type: 'value_error' }];
	if (set.type === 'grant') return problem(`must be omitted for a set of type \`grant\`, got \`${parent.key}\``);
	if (parent.autogenerated) return problem(`must not be an automatic set, got \`${parent.key}\``);
	if (parent.type !== set.type) return problem(`must be a ${set.type}, got the ${parent.type} \`${parent.key}\``);
	if (set.resource_id === undefined || parent.resource_id === set.resource_id) return [];
	return problem(`must be a set for the same resource, got \`${parent.key}\``);
}

/** Returns the problem with parameters on a set whose type is not `grant`. */
export function parameterProblems(
	type: ConditionSet['type'],
	parameters: object | null | undefined,
	at: RequestPlace = body,
): readonly Problem[] {
	if (type === 'grant' || (parameters ?? null) === null) return [];
	const msg = `must be omitted for a ${type}: only a set of type \`grant\` has parameters`;
	return [{ loc: [...at, 'parameters'], msg, type: 'value_error' }];
}

/** Returns the problems with a parent that would create a cycle. */
export async function cycleProblems(
	unit: ReadingUnit,
	parent: ConditionSet,
	set: ConditionSet,
	at: RequestPlace = parentPlace,
): Promise<readonly Problem[]> {
	if (parent.id !== set.id && !(await ancestorSetIds(unit, parent.id)).includes(set.id)) return [];
	const msg = `must not be the set itself or one of its descendants, got \`${parent.key}\``;
	return [{ loc: [...at], msg, type: 'cycle' }];
}

/** Returns the set with this id or key and, if passed, this type. Throws `not_found`. */
export async function findConditionSet(
	unit: ReadingUnit,
	reference: string,
	type?: ConditionSet['type'],
): Promise<ConditionSet> {
	const found = await unit.findNamed(ConditionSet, [reference]);
	const set = found.find((row) => type === undefined || row.type === type);
	if (set === undefined) throw notFound(ConditionSet.title, reference);
	return set;
}

/** Returns the ids of possible parent sets; none for an automatic set, which cannot change. */
export async function possibleParents(unit: ReadingUnit, set: ConditionSet): Promise<readonly string[]> {
	if (set.autogenerated || set.type === 'grant') return [];
	const alike = await writtenSets(unit, set);
	const own = new Set([set.id, ...(await descendantSetIds(unit, set.id))]);
	return alike.map(({ id }) => id).filter((id) => !own.has(id));
}
