import { Failure, notFound } from '../failure.js';
import { ConditionSet } from '../store/table/condition-set.js';
import { insertRules, type RuleFilter, type RuleRow, rulesJoining } from '../store/table/condition-set-rule.js';
import { Resource, ResourceAction } from '../store/table/resource.js';
import { type ActionRow, actionsNamed } from '../store/table/role.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { automaticPrefix } from '../wire/condition-set.js';
import type { SetRuleCreate, SetRuleQuery, SetRuleRead, SetRuleRemove } from '../wire/set-rule.js';
import { type Automatic, automaticNamed, automaticSetOf, ensureAutomaticSet, findAutomatic } from './automatic-set.js';
import { namedPermission } from './role-permission.js';
import { recordRules, removeRules, ruleKey } from './set-rule-record.js';

/** A rule as the API shows it. */
export function readRule(unit: ReadingUnit, row: RuleRow): SetRuleRead {
	return { ...row, ...unit.scope, key: ruleKey(row), permission: `${row.resource}:${row.action}` };
}

/**
 * Makes a rule, and the automatic sets that it is the first to name; a rule that is there already stays as it is.
 * Throws `not_found` for a set, role, resource or action that does not exist, `invalid_permission`, and `invalid` for a
 * set of the wrong type, or of another resource than the permission.
 */
export async function createRule(unit: WritingUnit, body: SetRuleCreate): Promise<readonly RuleRow[]> {
	const [users, resources] = [sideOf(body, 'userset'), sideOf(body, 'resourceset')];
	const userSet = await setFor(unit, users);
	const resourceSet = await setFor(unit, resources);
	const action = await findAction(unit, body.permission);
	if (action === undefined) throw notFound(ResourceAction.title, body.permission);
	await refuseForeignAction(unit, resourceSet, action, body.permission);
	return addRules(unit, [{ user_set_id: userSet.id, action_id: action.id, resource_set_id: resourceSet.id }]);
}

/** Makes the rules that are not there yet and records them. Returns all that were wanted. */
export async function addRules(
	unit: WritingUnit,
	wanted: Parameters<typeof insertRules>[1],
): Promise<readonly RuleRow[]> {
	const made = new Set((await insertRules(unit, wanted)).map(({ id }) => id));
	const rows = await rulesJoining(unit, wanted);
	recordRules(
		unit,
		rows.filter(({ id }) => made.has(id)),
	);
	return rows;
}

/** Takes a rule away; one that is not there is skipped, whatever of it is missing. Throws `invalid_permission`. */
export async function removeRule(unit: WritingUnit, body: SetRuleRemove): Promise<void> {
	const action = await findAction(unit, body.permission);
	const userSet = await existingSet(unit, sideOf(body, 'userset'));
	const resourceSet = await existingSet(unit, sideOf(body, 'resourceset'));
	if (action === undefined || userSet === undefined || resourceSet === undefined) return;
	const filter = { user_set_ids: [userSet.id], action_ids: [action.id], resource_set_ids: [resourceSet.id] };
	await removeRules(unit, filter);
}

/** Which rules a list's query means. */
export async function ruleFilterOf(unit: ReadingUnit, query: SetRuleQuery): Promise<RuleFilter> {
	return {
		user_set_ids: await setIds(unit, query.user_set),
		resource_set_ids: await setIds(unit, query.resource_set),
		action_ids: await actionIds(unit, query.permission),
	};
}

/** One side of a rule as a request names it. */
interface Side {
	readonly type: ConditionSet['type'];
	readonly reference: string;
	/** Whether the reference is that of a role or a resource. */
	readonly automatic: boolean;
}

function sideOf(body: SetRuleCreate, type: ConditionSet['type']): Side {
	if (type === 'userset') return { type, reference: body.user_set, automatic: body.is_role };
	return { type, reference: body.resource_set, automatic: body.is_resource };
}

/** The set that a side names; an automatic one is made where it is missing. */
async function setFor(unit: WritingUnit, side: Side): Promise<ConditionSet> {
	if (side.automatic) return ensureAutomaticSet(unit, await findAutomatic(unit, side.type, side.reference));
	const set = await namedSet(unit, side);
	if (set !== undefined) return set;
	const owner = await ownerOf(unit, side);
	if (owner === undefined) throw notFound(ConditionSet.title, side.reference);
	return ensureAutomaticSet(unit, owner);
}

async function existingSet(unit: ReadingUnit, side: Side): Promise<ConditionSet | undefined> {
	const { type, reference, automatic } = side;
	if (!automatic) return (await unit.findMany(ConditionSet, [reference], { type })).get(reference);
	const owner = await automaticNamed(unit, type, reference);
	return owner === undefined ? undefined : automaticSetOf(unit, owner);
}

async function namedSet(unit: ReadingUnit, { type, reference }: Side): Promise<ConditionSet | undefined> {
	const sets = await unit.findNamed(ConditionSet, [reference]);
	const set = sets.find((row) => row.type === type);
	const [other] = sets;
	if (set !== undefined || other === undefined || other.autogenerated) return set;
	throw new Failure('invalid', `the condition set \`${reference}\` is a ${other.type}, not a ${type}`);
}

/** The role or resource whose automatic set is named before there is one. */
async function ownerOf(unit: ReadingUnit, { type, reference }: Side): Promise<Automatic | undefined> {
	return reference.startsWith(automaticPrefix) ? automaticNamed(unit, type, reference) : undefined;
}

async function findAction(unit: ReadingUnit, permission: string): Promise<ActionRow | undefined> {
	const { id, pair } = namedPermission(permission);
	const [action] = await actionsNamed(unit, pair === null ? [] : [pair], id === null ? [] : [id]);
	return action;
}

async function refuseForeignAction(unit: ReadingUnit, set: ConditionSet, action: ActionRow, permission: string) {
	const { key } = await unit.find(Resource, set.resource_id ?? '');
	if (key === action.resource) return;
	const message = `the permission \`${permission}\` is of \`${action.resource}\`, but the resource set \`${set.key}\` is of \`${key}\``;
	throw new Failure('invalid', message);
}

async function setIds(unit: ReadingUnit, references: readonly string[] | undefined): Promise<string[] | undefined> {
	if (references === undefined) return undefined;
	return (await unit.findNamed(ConditionSet, references)).map(({ id }) => id);
}

/** A permission of a filter may also be the key of an action alone, of whichever resource. */
async function actionIds(unit: ReadingUnit, permissions: readonly string[] | undefined): Promise<string[] | undefined> {
	if (permissions === undefined) return undefined;
	const pairs = permissions.flatMap((permission) => {
		const [resource = '', action, ...rest] = permission.split(':');
		return action === undefined || rest.length > 0 ? [] : [{ resource, action }];
	});
	const named = await unit.findNamed(
		ResourceAction,
		permissions.filter((permission) => !permission.includes(':')),
	);
	return [...(await actionsNamed(unit, pairs, [])), ...named].map(({ id }) => id);
}
