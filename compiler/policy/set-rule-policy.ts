/**
 * Rego for condition set rules. Each action has its own package, so a check does not pay for the rules of other
 * actions.
 */

import { groupBy } from '../group-by.js';
import type { ConditionSet, RegoFile, Schema, SetRule } from '../model.js';
import { canonical } from '../order.js';
import { keyFolder, packagePart } from '../rego/path.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { regoFunction, rule } from '../rego/rule.js';
import { metadata } from './metadata.js';
import { rulesLikeRoles } from './named-roles.js';
import { regoFile } from './rego-file.js';
import { selectsCall } from './set-policy.js';

/** Returns the rule that grants an action by condition sets; `undefined` if the action has no set rules. */
export type SetGrant = (resource: string, action: string) => Fragment | undefined;

/** Returns a lookup for the set rules of an action. */
export function setGrants({ set_rules }: Schema): SetGrant {
	const asked = new Set(set_rules.map(actionText));
	return (resource, action) =>
		asked.has(actionText({ resource, action }))
			? rego`data.regolith.set_rules${packagePart(resource)}${packagePart(action)}.granted`
			: undefined;
}

/**
 * Writes the rules. The data document contains them too, for explanations. The Rego calls each set by name, which takes
 * less than half the time of a lookup by key.
 */
export function writeSetRules(schema: Schema): readonly RegoFile[] {
	const isLikeRole = rulesLikeRoles(schema);
	return [...groupBy(schema.set_rules, actionText).values()].flatMap((rules) =>
		rules.slice(0, 1).map((of) => writeAction(of, rules, rules.filter(isLikeRole))),
	);
}

type ActionName = Pick<SetRule, 'resource' | 'action'>;

/** Returns a unique string for an action and its type, regardless of the characters in the keys. */
function actionText({ resource, action }: ActionName): string {
	return JSON.stringify([resource, action]);
}

/**
 * Writes an action's package with its rules. `likeRoles` are the rules that act like roles on the resource: they also
 * grant the action in listings that skip conditions.
 */
function writeAction(
	{ resource, action }: ActionName,
	rules: readonly SetRule[],
	likeRoles: readonly SetRule[],
): RegoFile {
	const isSame = likeRoles.length === rules.length;
	const suffix = isSame ? rego`` : rego`_like_roles`;
	const suspended = rego`data.regolith.pending.set_rules${packagePart(resource)}${packagePart(action)}`;
	return regoFile(`regolith/set_rules/${keyFolder(resource)}/${keyFolder(action)}/granted.rego`, [
		rego`package regolith.set_rules${packagePart(resource)}${packagePart(action)}`,
		lines([rego`import data.regolith.abac`, rego`import data.regolith.attributes`]),
		lines([
			metadata({
				title: 'Condition set rules',
				custom: [
					[rego`resource`, resource],
					[rego`action`, action],
				],
			}),
			rego`#   kind: set_rules`,
			rule(rego`granted`, [
				rego`abac.evaluated`,
				rego`joined(attributes.user, attributes.resource)`,
				rego`not ${suspended}`,
			]),
		]),
		...(likeRoles.length === 0
			? []
			: [
					rule(rego`granted`, [
						rego`abac.evaluated_like_roles`,
						rego`joined${suffix}(attributes.user, attributes.resource)`,
						rego`not ${suspended}`,
					]),
				]),
		...writeJoins(rules, rego``),
		...(isSame ? [] : writeJoins(likeRoles, suffix)),
	]);
}

/** The keys of user sets and resource sets, sorted. There is a rule between every user set and every resource set. */
interface Join {
	readonly user_sets: readonly string[];
	readonly resource_sets: readonly string[];
}

/**
 * Groups rules into few joins: user sets with the same resource sets share a join. The joins are ordered by their first
 * user set.
 */
function groupJoins(rules: readonly SetRule[]): readonly Join[] {
	const byUserSet = groupBy(rules, ({ user_set }) => user_set);
	const sides = canonical(byUserSet.keys()).map((user_set) => ({
		user_set,
		resource_sets: canonical((byUserSet.get(user_set) ?? []).map(({ resource_set }) => resource_set)),
	}));
	return [...groupBy(sides, ({ resource_sets }) => JSON.stringify(resource_sets)).values()].map((joined) => ({
		user_sets: joined.map(({ user_set }) => user_set),
		resource_sets: joined[0]?.resource_sets ?? [],
	}));
}

/**
 * Writes the function that is true if any of the rules grants the action. Its name, and all other names, end with
 * `suffix`.
 */
function writeJoins(rules: readonly SetRule[], suffix: Fragment): readonly Fragment[] {
	return groupJoins(rules).flatMap((join, index) => writeJoin(join, rego`${index + 1}${suffix}`, suffix));
}

/**
 * Writes the Rego for a join. The Rego evaluates each set once, even if the set has several rules in the join. The
 * names of the functions that only this join calls end with `place`.
 */
function writeJoin({ user_sets, resource_sets }: Join, place: Fragment, suffix: Fragment): readonly Fragment[] {
	const users = writeSide('userset', user_sets, place);
	const resources = writeSide('resourceset', resource_sets, place);
	return [
		regoFunction(rego`joined${suffix}`, ['user', 'resource'], [users.condition, resources.condition]),
		...users.functions,
		...resources.functions,
	];
}

/**
 * Writes the condition that any of the sets selects. A single set is called directly. Several sets become the bodies of
 * a function.
 */
function writeSide(type: ConditionSet['type'], keys: readonly string[], place: Fragment) {
	const choices = keys.map((key) => selectsCall(type, key));
	const [only, second] = choices;
	if (only !== undefined && second === undefined) return { condition: only, functions: [] };
	const [name, object] =
		type === 'userset' ? ([rego`user_${place}`, 'user'] as const) : ([rego`resource_${place}`, 'resource'] as const);
	return {
		condition: rego`${name}(${new Fragment(object)})`,
		functions: choices.map((choice) => regoFunction(name, [object], [choice])),
	};
}
