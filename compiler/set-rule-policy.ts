/** Rules of condition sets as Rego: a package for each action that has any, so that those of others cost it nothing. */
import { functionOf, rule } from './condition/rego.js';
import { groupedBy } from './grouped-by.js';
import { metadata } from './metadata.js';
import type { ConditionSet, RegoFile, Schema, SetRule } from './model.js';
import { canonical } from './order.js';
import { folderOf, packagePart } from './rego/path.js';
import { Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { selectsOf } from './set-policy.js';

/** The rule that says whether condition sets grant an action; `undefined` when no rule of theirs is about it. */
export type GrantOf = (resource: string, action: string) => Fragment | undefined;

/** How the rules of an action are asked, once they are written. */
export function setGrants({ set_rules }: Schema): GrantOf {
	const asked = new Set(set_rules.map(actionOf));
	return (resource, action) =>
		asked.has(actionOf({ resource, action }))
			? rego`data.regolith.set_rules${packagePart(resource)}${packagePart(action)}.granted`
			: undefined;
}

/**
 * Writes the rules. They are also in the data document, for explanations: here each set is called by its name, which
 * takes less than half of what it takes to find it by its key.
 */
export function writeSetRules({ set_rules }: Schema): readonly RegoFile[] {
	return [...groupedBy(set_rules, actionOf).values()].flatMap((rules) =>
		rules.slice(0, 1).map((of) => writeAction(of, rules)),
	);
}

type ActionName = Pick<SetRule, 'resource' | 'action'>;

/** One text for one action of one type, whatever characters the keys hold. */
function actionOf({ resource, action }: ActionName): string {
	return JSON.stringify([resource, action]);
}

/** The package of one action, which has these rules. */
function writeAction({ resource, action }: ActionName, rules: readonly SetRule[]): RegoFile {
	const joined = joinsOf(rules).map((join, index) => writeJoin(join, index + 1));
	const suspended = rego`data.regolith.pending.set_rules${packagePart(resource)}${packagePart(action)}`;
	return regoFile(`regolith/set_rules/${folderOf(resource)}/${folderOf(action)}/granted.rego`, [
		rego`package regolith.set_rules${packagePart(resource)}${packagePart(action)}`,
		lines([rego`import data.regolith.abac`, rego`import data.regolith.attributes`]),
		lines([
			metadata({
				title: 'Rules of condition sets',
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
		lines([
			metadata({ title: 'Rules that go on while others wait for their policy' }),
			rule(rego`granted`, [suspended, rego`abac.standing`]),
		]),
		...joined.flat(),
	]);
}

/** Every one of some user sets is joined to every one of some resource sets: by their keys, sorted. */
interface Join {
	readonly user_sets: readonly string[];
	readonly resource_sets: readonly string[];
}

/** Rules as few joins: user sets that are joined to the same resource sets are in one. In order of their first ones. */
function joinsOf(rules: readonly SetRule[]): readonly Join[] {
	const byUserSet = groupedBy(rules, ({ user_set }) => user_set);
	const sides = canonical(byUserSet.keys()).map((user_set) => ({
		user_set,
		resource_sets: canonical((byUserSet.get(user_set) ?? []).map(({ resource_set }) => resource_set)),
	}));
	return [...groupedBy(sides, ({ resource_sets }) => JSON.stringify(resource_sets)).values()].map((joined) => ({
		user_sets: joined.map(({ user_set }) => user_set),
		resource_sets: joined[0]?.resource_sets ?? [],
	}));
}

/** Each set is looked at once, however many of the other side it is joined to. */
function writeJoin({ user_sets, resource_sets }: Join, number: number): readonly Fragment[] {
	const users = writeSide('userset', user_sets, number);
	const resources = writeSide('resourceset', resource_sets, number);
	return [
		functionOf(rego`joined`, ['user', 'resource'], [users.condition, resources.condition]),
		...users.functions,
		...resources.functions,
	];
}

/** Whether one of some sets selects: one is asked itself, and of several a function has a body for each. */
function writeSide(type: ConditionSet['type'], keys: readonly string[], number: number) {
	const choices = keys.map((key) => selectsOf(type, key));
	const [only, second] = choices;
	if (only !== undefined && second === undefined) return { condition: only, functions: [] };
	const [name, object] =
		type === 'userset' ? ([rego`user_${number}`, 'user'] as const) : ([rego`resource_${number}`, 'resource'] as const);
	return {
		condition: rego`${name}(${new Fragment(object)})`,
		functions: choices.map((choice) => functionOf(name, [object], [choice])),
	};
}
