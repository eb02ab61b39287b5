import { Failure, notFound, unprocessable } from '../../failure.js';
import { ConditionSet } from '../../store/table/condition-set.js';
import {
	insertRules,
	type RuleFilter,
	type RuleRow,
	rulesJoining,
	withKeys,
} from '../../store/table/condition-set-rule.js';
import { Resource, ResourceAction } from '../../store/table/resource.js';
import { type ActionRow, actionsNamed } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { automaticPrefix } from '../../wire/schema/condition-set.js';
import type { SetRuleCreate, SetRuleQuery, SetRuleRead, SetRuleRemove } from '../../wire/schema/set-rule.js';
import { ensureAutomaticSet, findAutomaticSet, findSetOwner, lookUpSetOwner, type SetOwner } from './automatic-set.js';
import { parsePermission } from './role-permission.js';
import { recordSetRules, removeSetRules, setRuleKey } from './set-rule-record.js';

/** Converts a rule to its API object. */
export function readSetRule(unit: ReadingUnit, row: RuleRow): SetRuleRead {
	return { ...row, ...unit.scope, key: setRuleKey(row), permission: `${row.resource}:${row.action}` };
}

/**
 * Creates a rule, and its automatic sets if they are missing. An existing rule stays unchanged. Throws `not_found` for
 * a missing set, role, resource or action, `invalid_permission`, `invalid` for a set with the wrong type or for a
 * resource set whose resource is not the permission's resource, and `unprocessable` for a user set with a different
 * resource.
 */
export async function createSetRule(unit: WritingUnit, body: SetRuleCreate): Promise<readonly RuleRow[]> {
	const [users, resources] = [ruleSide(body, 'userset'), ruleSide(body, 'resourceset')];
	const userSet = await ensureSet(unit, users);
	const resourceSet = await ensureSet(unit, resources);
	const action = await findAction(unit, body.permission);
	if (action === undefined) throw notFound(ResourceAction.title, body.permission);
	await refuseForeignAction(unit, resourceSet, action, body.permission);
	refuseForeignUserSet(userSet, resourceSet, ['body', 'user_set']);
	return addSetRules(unit, [{ user_set_id: userSet.id, action_id: action.id, resource_set_id: resourceSet.id }]);
}

/** Creates and records the missing rules. Returns all wanted rules. */
export async function addSetRules(
	unit: WritingUnit,
	wanted: Parameters<typeof insertRules>[1],
): Promise<readonly RuleRow[]> {
	const made = await withKeys(unit, await insertRules(unit, wanted));
	recordSetRules(unit, made);
	return made.length === wanted.length ? made : rulesJoining(unit, wanted);
}

/** Deletes a rule. Does nothing if the rule, or an object in it, does not exist. Throws `invalid_permission`. */
export async function removeSetRule(unit: WritingUnit, body: SetRuleRemove): Promise<void> {
	const action = await findAction(unit, body.permission);
	const userSet = await findExistingSet(unit, ruleSide(body, 'userset'));
	const resourceSet = await findExistingSet(unit, ruleSide(body, 'resourceset'));
	if (action === undefined || userSet === undefined || resourceSet === undefined) return;
	const filter = { user_set_ids: [userSet.id], action_ids: [action.id], resource_set_ids: [resourceSet.id] };
	await removeSetRules(unit, filter);
}

/** Converts a list query to its filter. */
export async function resolveRuleFilter(unit: ReadingUnit, query: SetRuleQuery): Promise<RuleFilter> {
	return {
		user_set_ids: await setIds(unit, query.user_set),
		resource_set_ids: await setIds(unit, query.resource_set),
		action_ids: await actionIds(unit, query.permission),
	};
}

/** A user set or resource set in a request for a rule. */
interface Side {
	readonly type: ConditionSet['type'];
	readonly reference: string;
	/** True if the reference is to a role or resource instead of a set. */
	readonly automatic: boolean;
}

function ruleSide(body: SetRuleCreate, type: ConditionSet['type']): Side {
	if (type === 'userset') return { type, reference: body.user_set, automatic: body.is_role };
	return { type, reference: body.resource_set, automatic: body.is_resource };
}

/** Returns the set for a side, and creates an automatic set if it is missing. */
async function ensureSet(unit: WritingUnit, side: Side): Promise<ConditionSet> {
	if (side.automatic) return ensureAutomaticSet(unit, await findSetOwner(unit, side.type, side.reference));
	const set = await findNamedSet(unit, side);
	if (set !== undefined) return set;
	const owner = await findNamedOwner(unit, side);
	if (owner === undefined) throw notFound(ConditionSet.title, side.reference);
	return ensureAutomaticSet(unit, owner);
}

async function findExistingSet(unit: ReadingUnit, side: Side): Promise<ConditionSet | undefined> {
	const { type, reference, automatic } = side;
	if (!automatic) return (await unit.findMany(ConditionSet, [reference], { type })).get(reference);
	const owner = await lookUpSetOwner(unit, type, reference);
	return owner === undefined ? undefined : findAutomaticSet(unit, owner);
}

async function findNamedSet(unit: ReadingUnit, { type, reference }: Side): Promise<ConditionSet | undefined> {
	const sets = await unit.findNamed(ConditionSet, [reference]);
	const set = sets.find((row) => row.type === type);
	const [other] = sets;
	if (set !== undefined || other === undefined || other.autogenerated) return set;
	throw new Failure('invalid', `the condition set \`${reference}\` is a ${other.type}, not a ${type}`);
}

/** Returns the role or resource of a side, if its automatic set does not exist yet. */
async function findNamedOwner(unit: ReadingUnit, { type, reference }: Side): Promise<SetOwner | undefined> {
	return reference.startsWith(automaticPrefix) ? lookUpSetOwner(unit, type, reference) : undefined;
}

async function findAction(unit: ReadingUnit, permission: string): Promise<ActionRow | undefined> {
	const { id, pair } = parsePermission(permission);
	const [action] = await actionsNamed(unit, pair === null ? [] : [pair], id === null ? [] : [id]);
	return action;
}

async function refuseForeignAction(unit: ReadingUnit, set: ConditionSet, action: ActionRow, permission: string) {
	const { key } = await unit.find(Resource, set.resource_id ?? '');
	if (key === action.resource) return;
	const message = `the permission \`${permission}\` belongs to \`${action.resource}\`, but the resource set \`${set.key}\` belongs to \`${key}\``;
	throw new Failure('invalid', message);
}

/** Rejects a user set whose resource is not the rule's resource, because the set names roles on its own resource. */
export function refuseForeignUserSet(
	{ key, resource_id }: ConditionSet,
	resourceSet: ConditionSet,
	loc: readonly (string | number)[],
): void {
	if (resource_id === null || resource_id === resourceSet.resource_id) return;
	const msg = `must be a set without a resource, or with the resource of \`${resourceSet.key}\`, got \`${key}\``;
	throw unprocessable([{ loc, msg, type: 'other_resource' }]);
}

async function setIds(unit: ReadingUnit, references: readonly string[] | undefined): Promise<string[] | undefined> {
	if (references === undefined) return undefined;
	return (await unit.findNamed(ConditionSet, references)).map(({ id }) => id);
}

/**
 * Returns the ids of actions with these permissions. In a filter, a permission may also be an action key alone, which
 * matches actions of any resource.
 */
async function actionIds(unit: ReadingUnit, permissions: readonly string[] | undefined): Promise<string[] | undefined> {
	if (permissions === undefined) return undefined;
	const pairs = permissions.flatMap((permission) => {
		const [resource = '', action, ...rest] = permission.split(':');
		return action === undefined || rest.length > 0 ? [] : [{ resource, action }];
	});
	const bareKeys = permissions.filter((permission) => !permission.includes(':'));
	const named = await unit.findNamed(ResourceAction, bareKeys);
	return [...(await actionsNamed(unit, pairs, [])), ...named].map(({ id }) => id);
}
