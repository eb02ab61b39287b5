/** Rules of condition sets as Rego: a package for each action that has any, so that those of others cost it nothing. */
import { functionOf, rule } from './condition/rego.js';
import { groupedBy } from './grouped-by.js';
import { metadata } from './metadata.js';
import type { RegoFile, Schema, SetRule } from './model.js';
import { canonical } from './order.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
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
	const byUserSet = groupedBy(rules, ({ user_set }) => user_set);
	const joined = canonical([...byUserSet.keys()]).map((user_set, index) =>
		writeJoined(user_set, canonical((byUserSet.get(user_set) ?? []).map((row) => row.resource_set)), index + 1),
	);
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

/** The user set is looked at once, however many resource sets it is joined to. */
function writeJoined(user_set: string, resource_sets: readonly string[], number: number): readonly Fragment[] {
	const choices = resource_sets.map((key) => selectsOf('resourceset', key));
	const choice = rego`resource_${number}`;
	const [only, second] = choices;
	const condition = only !== undefined && second === undefined ? only : rego`${choice}(resource)`;
	return [
		functionOf(rego`joined`, ['user', 'resource'], [selectsOf('userset', user_set), condition]),
		...(second === undefined ? [] : choices.map((one) => functionOf(choice, ['resource'], [one]))),
	];
}
