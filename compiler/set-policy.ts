/** Condition sets as Rego: one package for each, so that a rule asks for one set without a look at the others. */
import { parseConditions } from './condition/grammar.js';
import { type ConditionRego, rule, writeCondition } from './condition/rego.js';
import { objectMetadata } from './metadata.js';
import type { ConditionSet, RegoFile } from './model.js';
import { canonical } from './order.js';
import { folderOf, packagePart } from './rego/path.js';
import { Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';

/**
 * The package of a set, `regolith.user_sets.<key>` or `regolith.resource_sets.<key>`: `holds` says whether the set
 * selects the user or the resource of the check. Functions about items of arrays are in a package of their own: where
 * one is asked by its key, only rules without parameters can be. A set whose conditions cannot be read selects nothing.
 */
export function writeConditionSet(set: ConditionSet): readonly RegoFile[] {
	const written = writeSelection(set);
	const kind = kindOf(set);
	const folder = folderOf(set.key);
	const part = rego`${kind.sets}${packagePart(set.key)}`;
	const code = [
		...holds(set, written),
		...written.helpers,
		...written.mistyped.map((body) => rule(rego`mistyped`, body)),
	];
	const title = objectMetadata(kind.kind, set);
	const resource = set.resource === null ? [] : [rego`#   resource: ${set.resource}`];
	const [first = rego``, ...others] = code;
	return [
		regoFile(`regolith/${kind.sets.text}/${folder}/holds.rego`, [
			rego`package regolith.${part}`,
			...imports(code, part),
			lines([title, ...resource, rego`# scope: document`, first]),
			...others,
		]),
		...(written.matches.length === 0
			? []
			: [
					regoFile(`regolith/matches/${kind.sets.text}/${folder}/matches.rego`, [
						rego`package regolith.matches.${part}`,
						...imports(written.matches, part),
						...written.matches,
					]),
				]),
	];
}

function kindOf({ type }: ConditionSet): { readonly sets: Fragment; readonly kind: Fragment } {
	return type === 'userset'
		? { sets: rego`user_sets`, kind: rego`user_set` }
		: { sets: rego`resource_sets`, kind: rego`resource_set` };
}

function writeSelection({ selects, type }: ConditionSet): ConditionRego {
	const nothingMore = { mistyped: [], helpers: [], matches: [] };
	if ('role' in selects) {
		return { ...nothingMore, holds: [rego`rbac.roles${packagePart(selects.role)} == null`] };
	}
	if ('resource' in selects) {
		return { ...nothingMore, holds: [] };
	}
	const parsed = parseConditions(selects.conditions, { type });
	return 'condition' in parsed ? writeCondition(parsed.condition) : { ...nothingMore, holds: [rego`false`] };
}

/** With a default, because what is undefined is not kept, but evaluated anew whenever it is asked for. */
function holds(set: ConditionSet, written: ConditionRego): readonly Fragment[] {
	const { sets } = kindOf(set);
	const body = [
		...(set.parent === null ? [] : [rego`data.regolith.${sets}${packagePart(set.parent)}.holds`]),
		...written.holds,
		...(written.mistyped.length === 0 ? [] : [rego`not mistyped`]),
	];
	return body.length === 0 ? [rego`holds := true`] : [rego`default holds := false`, rule(rego`holds`, body)];
}

const attributeNames = [
	...['user', 'user_key', 'user_roles', 'user_tenants'],
	...['resource', 'resource_key', 'resource_type', 'resource_tenant'],
	...['tenant', 'tenant_key', 'context'],
];

/** What the code speaks of: an import that is not used would be an error. */
function imports(code: readonly Fragment[], part: Fragment): readonly Fragment[] {
	const names = new Set(code.flatMap(({ text }) => withoutTexts(text).match(firstNames) ?? []));
	const used = [
		...canonical(attributeNames.filter((name) => names.has(name))).map(
			(name) => new Fragment(`import data.regolith.attributes.${name}`),
		),
		...(names.has('compare') ? [rego`import data.regolith.compare`] : []),
		...(names.has('matches') ? [rego`import data.regolith.matches.${part} as matches`] : []),
		...(names.has('rbac') ? [rego`import data.regolith.rbac`] : []),
	];
	return used.length === 0 ? [] : [lines(used)];
}

/** Names that no dot leads to. */
const firstNames = /(?<![\w.])[a-z]\w*/g;

/** The code with empty texts in place of those it holds. */
function withoutTexts(code: string): string {
	return code.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}
