/** Condition sets as Rego: one package for each, so that a rule asks for one set without a look at the others. */
import { parseConditions } from './condition/grammar.js';
import { type ConditionRego, functionOf, namesIn, writeCondition } from './condition/rego.js';
import { objectMetadata } from './metadata.js';
import type { ConditionSet, RegoFile } from './model.js';
import { canonical } from './order.js';
import { folderOf, packagePart } from './rego/path.js';
import { Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';

/**
 * The package of a set, `regolith.user_sets.<key>` or `regolith.resource_sets.<key>`: `selects` says of attributes
 * whether they are selected, which rules ask, and `holds` says so of the user or the resource of the check, which can be
 * asked by the set's key. A set whose conditions cannot be read selects nothing.
 */
export function writeConditionSet(set: ConditionSet): RegoFile {
	const written = writeSelection(set);
	const { sets, kind, object } = kindOf(set);
	const code = [
		rego`default holds := false`,
		rego`holds if selects(attributes.${new Fragment(object)})`,
		selects(set, written),
		...written.helpers,
		...written.mistyped.map((body) => functionOf(rego`mistyped`, [object], body)),
	];
	const title = objectMetadata(kind, set);
	const resource = set.resource === null ? [] : [rego`#   resource: ${set.resource}`];
	const [first = rego``, ...others] = code;
	return regoFile(`regolith/${sets.text}/${folderOf(set.key)}/holds.rego`, [
		rego`package regolith.${sets}${packagePart(set.key)}`,
		imports(code, object),
		lines([title, ...resource, rego`# scope: document`, first]),
		...others,
	]);
}

/** What code calls of a set: whether it selects what has these attributes. */
export function selectsOf(type: ConditionSet['type'], key: string): Fragment {
	const { sets, object } = kindOf({ type });
	return rego`data.regolith.${sets}${packagePart(key)}.selects(${new Fragment(object)})`;
}

function kindOf({ type }: Pick<ConditionSet, 'type'>) {
	return type === 'userset'
		? ({ sets: rego`user_sets`, kind: rego`user_set`, object: 'user' } as const)
		: ({ sets: rego`resource_sets`, kind: rego`resource_set`, object: 'resource' } as const);
}

function writeSelection(set: ConditionSet): ConditionRego {
	const { selects: selection, type } = set;
	const nothingMore = { mistyped: [], helpers: [] };
	if ('role' in selection) {
		return { ...nothingMore, holds: [rego`rbac.roles${packagePart(selection.role)} == null`] };
	}
	if ('resource' in selection) {
		return { ...nothingMore, holds: [] };
	}
	const parsed = parseConditions(selection.conditions, { type });
	return 'condition' in parsed
		? writeCondition(parsed.condition, kindOf(set).object)
		: { ...nothingMore, holds: [rego`false`] };
}

function selects(set: ConditionSet, written: ConditionRego): Fragment {
	const { object } = kindOf(set);
	return functionOf(
		rego`selects`,
		[object],
		[
			...(set.parent === null ? [] : [selectsOf(set.type, set.parent)]),
			...written.holds,
			...(written.mistyped.length === 0 ? [] : [rego`not mistyped(${new Fragment(object)})`]),
		],
	);
}

const attributeNames = [
	...['user', 'user_key', 'user_roles', 'user_tenants'],
	...['resource', 'resource_key', 'resource_type', 'resource_tenant'],
	...['tenant', 'tenant_key', 'context'],
];

/** What the code speaks of, but for the parameter: an import that is not used would be an error. */
function imports(code: readonly Fragment[], parameter: string): Fragment {
	const names = namesIn(code);
	return lines([
		rego`import data.regolith.attributes`,
		...canonical(attributeNames.filter((name) => name !== parameter && names.has(name))).map(
			(name) => new Fragment(`import data.regolith.attributes.${name}`),
		),
		...(names.has('compare') ? [rego`import data.regolith.compare`] : []),
		...(names.has('rbac') ? [rego`import data.regolith.rbac`] : []),
	]);
}
