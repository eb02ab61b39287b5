import { ensureAutomaticSet, ownerKeys } from '../../domain/schema/automatic-set.js';
import { addSetRules, refuseForeignUserSet } from '../../domain/schema/set-rule.js';
import { removeSetRuleRows } from '../../domain/schema/set-rule-record.js';
import { Failure } from '../../failure.js';
import { ConditionSet } from '../../store/table/condition-set.js';
import { allRules, type RuleIds, type RuleRow, rulesNamed } from '../../store/table/condition-set-rule.js';
import { Resource, ResourceAction } from '../../store/table/resource.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { SetRuleEntry } from '../../wire/general/environment-document.js';
import { chunked, type DocumentPart, type Entry, listEntries, sortedEntries } from './part.js';
import { keyResolver, partResolver } from './reference.js';

const member = ['schema', 'set_rules'] as const;

/**
 * Rules between condition sets. Documents refer to an automatic set by its key. The set is created with its first rule.
 */
export const setRulePart: DocumentPart<SetRuleEntry> = {
	title: 'condition set rule',
	member,
	scope: ({ value }) => [
		copyPass('user_sets', 'roles', value.user_set),
		copyPass('resource_sets', 'resources', value.resource_set),
		['resources', permissionParts(value).resource],
	],
	list: true,
	entriesIn: ({ schema }) => listEntries(member, schema?.set_rules, ruleName),
	async *chunks(unit) {
		const rows = await allRules(unit);
		yield* chunked(sortedEntries(rows.map(ruleEntry), ruleName));
	},
	async stored(unit, entries) {
		const rows = await rowsNamed(unit, entries);
		return new Map(rows.map((row) => [ruleName(ruleEntry(row)), ruleEntry(row)]));
	},
	toDocument: (value) => value,
	async write(unit, entries) {
		if (entries.length > 0) await addSetRules(unit, await resolveIds(unit, entries));
	},
	async remove(unit, entries) {
		await removeSetRuleRows(unit, await rowsNamed(unit, entries));
	},
};

function copyPass<F extends string, G extends string>(ofSets: F, ofOwners: G, key: string) {
	const [owner] = ownerKeys(key);
	return owner === undefined ? ([ofSets, key] as const) : ([ofOwners, owner] as const);
}

function ruleEntry({ user_set, resource, action, resource_set }: RuleRow): SetRuleEntry {
	return { user_set, permission: `${resource}:${action}`, resource_set };
}

function ruleName({ user_set, permission, resource_set }: SetRuleEntry): string {
	return `${user_set} ${permission} ${resource_set}`;
}

function permissionParts({ permission }: SetRuleEntry): { readonly resource: string; readonly key: string } {
	return instanceParts(permission) ?? { resource: '', key: permission };
}

function rowsNamed(unit: ReadingUnit, entries: readonly Entry<SetRuleEntry>[]): Promise<readonly RuleRow[]> {
	return rulesNamed(
		unit,
		entries.map(({ value }) => ({
			...value,
			resource: permissionParts(value).resource,
			action: permissionParts(value).key,
		})),
	);
}

/** Resolves rules to ids. Creates missing automatic sets. Throws `not_found`, `invalid` and `unprocessable`. */
async function resolveIds(unit: WritingUnit, entries: readonly Entry<SetRuleEntry>[]): Promise<readonly RuleIds[]> {
	const values = entries.map(({ value }) => value);
	const actionAt = await partResolver(unit, ResourceAction, values.map(permissionParts));
	const userSets = values.map(({ user_set }) => user_set);
	const userSetAt = await prepareSets(unit, 'userset', userSets);
	const resourceSets = values.map(({ resource_set }) => resource_set);
	const resourceSetAt = await prepareSets(unit, 'resourceset', resourceSets);
	const ids: RuleIds[] = [];
	for (const { place, value } of entries) {
		const action = actionAt(permissionParts(value), [...place, 'permission']);
		const userSet = await userSetAt(value.user_set, [...place, 'user_set']);
		const resourceSet = await resourceSetAt(value.resource_set, [...place, 'resource_set']);
		if (resourceSet.resource_id !== action.resource_id) throw foreignSet(value, place);
		refuseForeignUserSet(userSet, resourceSet, ['body', ...place, 'user_set']);
		ids.push({ user_set_id: userSet.id, action_id: action.id, resource_set_id: resourceSet.id });
	}
	return ids;
}

type Place = Entry<unknown>['place'];

/**
 * Returns a lookup by key for sets of a type. For an automatic set, it uses the role or resource in the key, and
 * creates the set if it is missing.
 */
async function prepareSets(
	unit: WritingUnit,
	type: ConditionSet['type'],
	keys: readonly string[],
): Promise<(key: string, place: Place) => Promise<ConditionSet>> {
	const owners = keys.flatMap(ownerKeys);
	const roleAt = await keyResolver(unit, Role, type === 'userset' ? owners : [], tenantRolesOnly);
	const resourceAt = await keyResolver(unit, Resource, type === 'resourceset' ? owners : []);
	const setAt = await keyResolver(unit, ConditionSet, keys, { type, autogenerated: false });
	const made = new Map<string, Promise<ConditionSet>>();
	return (key, place) => {
		const [owner] = ownerKeys(key);
		if (owner === undefined) return Promise.resolve(setAt(key, place));
		const automaticOwner = type === 'userset' ? roleAt(owner, place) : resourceAt(owner, place);
		const set = made.get(key) ?? ensureAutomaticSet(unit, automaticOwner);
		made.set(key, set);
		return set;
	};
}

function foreignSet({ permission, resource_set }: SetRuleEntry, place: Place): Failure {
	const message = `the permission \`${permission}\` belongs to a different resource than the resource set \`${resource_set}\``;
	return new Failure('invalid', `${message}, at ${place.join('.')}`);
}
