/** Checks condition sets and their rules. */
import type { ConditionPath } from './condition/condition.js';
import { parseConditions } from './condition/parse/grammar.js';
import { rolesNamedIn, unknownRoleMessage } from './condition/resource-roles.js';
import { type Diagnostic, finding, keyProblems, repeated, tick } from './diagnostic.js';
import type { ConditionSet, Schema, SetRule } from './model.js';
import { extendsCycles } from './policy/grant.js';

/** Returns all findings about condition sets and set rules, in no particular order. Never throws. */
export function checkSets(schema: Schema): readonly Diagnostic[] {
	const sets: Sets = new Map(schema.condition_sets.map((set) => [typedKey(set.type, set.key), set]));
	return [
		...(['userset', 'resourceset'] as const).flatMap((wanted) =>
			keyProblems(
				['condition_sets'],
				schema.condition_sets.filter(({ type }) => type === wanted),
			),
		),
		...schema.condition_sets.flatMap((set) => [
			...checkSetResource(set, schema),
			...checkParent(set, sets),
			...checkSelection(set, schema),
		]),
		...checkCycles(schema.condition_sets),
		...schema.set_rules.flatMap((rule) => checkRule(rule, schema, sets)),
		...repeated(schema.set_rules.map(ruleName)).map((name) =>
			finding('repeated', ['set_rules', name], `the rule ${tick(name)} exists more than once`),
		),
	];
}

/** Sets keyed by type and key, because automatic sets for a role and for a resource may have the same key. */
type Sets = ReadonlyMap<string, ConditionSet>;

function typedKey(type: ConditionSet['type'], key: string): string {
	return `${type} ${key}`;
}

function setPlace({ key }: ConditionSet, ...further: readonly string[]): readonly string[] {
	return ['condition_sets', key, ...further];
}

function checkSetResource(set: ConditionSet, { resources }: Schema): readonly Diagnostic[] {
	const place = setPlace(set, 'resource');
	if (set.resource === null) {
		if (set.type === 'userset') return [];
		return [finding('misplaced_resource', place, `resource set ${tick(set.key)} has no resource type`)];
	}
	return resources.some(({ key }) => key === set.resource)
		? []
		: [finding('unknown_resource', place, `resource type ${tick(set.resource)} does not exist`)];
}

function checkParent(set: ConditionSet, sets: Sets): readonly Diagnostic[] {
	if (set.parent === null) {
		return [];
	}
	const place = setPlace(set, 'parent');
	const parent = sets.get(typedKey(set.type, set.parent));
	if (parent === undefined) {
		return [finding('unknown_condition_set', place, `${setNoun(set.type)} ${tick(set.parent)} does not exist`)];
	}
	const message = `${setNoun(set.type)} ${tick(set.parent)} has a different resource type than ${tick(set.key)}`;
	return parent.resource === set.resource ? [] : [finding('other_resource', place, message)];
}

function checkSelection(set: ConditionSet, { roles, resources }: Schema): readonly Diagnostic[] {
	const { selects } = set;
	if ('role' in selects) {
		const place = setPlace(set, 'role');
		return set.type === 'userset' && roles.some(({ key }) => key === selects.role)
			? []
			: [finding('unknown_role', place, `role ${tick(selects.role)} does not exist`)];
	}
	if ('resource' in selects) {
		const message = `resource type ${tick(selects.resource)} is not the resource type of the set ${tick(set.key)}`;
		return selects.resource === set.resource ? [] : [finding('other_resource', setPlace(set, 'resource'), message)];
	}
	const parsed = parseConditions(selects.conditions, { type: set.type, bound: set.resource !== null });
	const conditionPlace = (at: ConditionPath) => setPlace(set, 'conditions', ...at.map(String));
	if ('problems' in parsed) {
		return parsed.problems.map(({ at, msg }) => finding('malformed_conditions', conditionPlace(at), msg));
	}
	const known = resources.find(({ key }) => key === set.resource)?.roles.map(({ key }) => key) ?? [];
	return rolesNamedIn(parsed.condition)
		.filter(({ role }) => !known.includes(role))
		.map(({ role, at }) =>
			finding('unknown_role', conditionPlace(at), unknownRoleMessage(set.resource ?? '', role, known)),
		);
}

function checkCycles(sets: readonly ConditionSet[]): readonly Diagnostic[] {
	// Automatic sets narrow no other set. The keys of all other sets are unique.
	const others = sets.filter(({ selects }) => 'conditions' in selects);
	const narrowing = others.map(({ key, parent }) => ({ key, extends: parent === null ? [] : [parent] }));
	return extendsCycles(narrowing).map((chain) => {
		const [first = ''] = chain;
		const cycle = [...chain, first].map(tick).join(' narrows ');
		const place = ['condition_sets', first, 'parent'];
		return finding('condition_set_cycle', place, `condition sets are each other's parents in a cycle: ${cycle}`);
	});
}

function checkRule(rule: SetRule, { resources }: Schema, sets: Sets): readonly Diagnostic[] {
	const place = ['set_rules', ruleName(rule)];
	const type = resources.find(({ key }) => key === rule.resource);
	const [userSet, resourceSet] = [
		sets.get(typedKey('userset', rule.user_set)),
		sets.get(typedKey('resourceset', rule.resource_set)),
	];
	const missing = (
		[
			['userset', rule.user_set],
			['resourceset', rule.resource_set],
		] as const
	).filter(([kind, key]) => !sets.has(typedKey(kind, key)));
	return [
		...missing.map(([kind, key]) =>
			finding('unknown_condition_set', [...place, key], `${setNoun(kind)} ${tick(key)} does not exist`),
		),
		...(type === undefined
			? [finding('unknown_resource', place, `resource type ${tick(rule.resource)} does not exist`)]
			: type.actions.some(({ key }) => key === rule.action)
				? []
				: [
						finding(
							'unknown_action',
							place,
							`action ${tick(rule.action)} does not exist on resource type ${tick(rule.resource)}`,
						),
					]),
		...(resourceSet !== undefined && resourceSet.resource !== rule.resource
			? [
					finding(
						'other_resource',
						place,
						`resource set ${tick(rule.resource_set)} does not have the resource type ${tick(rule.resource)}`,
					),
				]
			: []),
		...(userSet !== undefined && userSet.resource !== null && userSet.resource !== rule.resource
			? [
					finding(
						'other_resource',
						place,
						`user set ${tick(rule.user_set)} has a different resource type than ${tick(rule.resource)}`,
					),
				]
			: []),
	];
}

function setNoun(type: ConditionSet['type']): string {
	return type === 'userset' ? 'user set' : 'resource set';
}

/** Returns a rule in human-readable form. */
function ruleName({ user_set, resource, action, resource_set }: SetRule): string {
	return `${user_set} ${resource}:${action} ${resource_set}`;
}
