/** Rego for condition sets. Each set has its own package, so a rule evaluates only the sets it uses. */
import { parseConditions } from '../condition/parse/grammar.js';
import { type ConditionRego, writeCondition } from '../condition/rego/write-condition.js';
import type { ConditionSet, RegoFile } from '../model.js';
import { canonical } from '../order.js';
import { keyFolder, packagePart } from '../rego/path.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { namesIn, regoFunction } from '../rego/rule.js';
import { objectMetadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { live } from './role-reference.js';

/**
 * Writes the package of a set, `regolith.user_sets.<key>` or `regolith.resource_sets.<key>`. Rules call its function
 * `selects` with the attributes. A set with unreadable conditions selects nothing.
 */
export function writeConditionSet(set: ConditionSet): RegoFile {
	const written = writeSelection(set);
	const { sets, kind, object } = setWords(set);
	const code = [
		selects(set, written),
		...written.helpers,
		...written.mistyped.map((body) => regoFunction(rego`mistyped`, [object], body)),
	];
	const title = objectMetadata(kind, set);
	const resource = set.resource === null ? [] : [rego`#   resource: ${set.resource}`];
	const [first = rego``, ...others] = code;
	return regoFile(`regolith/${sets.text}/${keyFolder(set.key)}/selects.rego`, [
		rego`package regolith.${sets}${packagePart(set.key)}`,
		...importsFor(code, object),
		lines([title, ...resource, rego`# scope: document`, first]),
		...others,
	]);
}

/** Writes the call to a set's function with the variable `user` or `resource`. `prefix` is written before the call. */
export function selectsCall(type: ConditionSet['type'], key: string, prefix: Fragment = rego``): Fragment {
	const { sets, object } = setWords({ type });
	return rego`data.regolith.${sets}${packagePart(key)}.selects(${prefix}${new Fragment(object)})`;
}

function setWords({ type }: Pick<ConditionSet, 'type'>) {
	return type === 'userset'
		? ({ sets: rego`user_sets`, kind: rego`user_set`, object: 'user' } as const)
		: ({ sets: rego`resource_sets`, kind: rego`resource_set`, object: 'resource' } as const);
}

function writeSelection(set: ConditionSet): ConditionRego {
	const { selects: selection, type, resource } = set;
	const nothingMore = { mistyped: [], helpers: [] };
	if ('role' in selection) {
		return { ...nothingMore, holds: [live(rego`rbac.roles${packagePart(selection.role)}`)] };
	}
	if ('resource' in selection) {
		return { ...nothingMore, holds: [] };
	}
	const parsed = parseConditions(selection.conditions, { type, bound: resource !== null });
	return 'condition' in parsed
		? writeCondition(parsed.condition, { object: setWords(set).object, resource })
		: { ...nothingMore, holds: [rego`false`] };
}

function selects(set: ConditionSet, written: ConditionRego): Fragment {
	const { object } = setWords(set);
	return regoFunction(
		rego`selects`,
		[object],
		[
			...(set.parent === null ? [] : [selectsCall(set.type, set.parent)]),
			...written.holds,
			...(written.mistyped.length === 0 ? [] : [rego`not mistyped(${new Fragment(object)})`]),
		],
	);
}

const attributeNames = [
	'user',
	'user_key',
	'user_roles',
	'user_tenants',
	'resource',
	'resource_key',
	'resource_type',
	'resource_tenant',
	'tenant',
	'tenant_key',
	'related',
];

/**
 * Returns only the imports used in a condition's code, because an unused import is an error. `parameter` is not
 * imported.
 */
export function importsFor(code: readonly Fragment[], parameter: string): readonly Fragment[] {
	const names = namesIn(code);
	const used = [
		...(names.has('ago') ? [rego`import data.regolith.ago`] : []),
		...canonical(attributeNames.filter((name) => name !== parameter && names.has(name))).map(
			(name) => new Fragment(`import data.regolith.attributes.${name}`),
		),
		...(names.has('compare') ? [rego`import data.regolith.compare`] : []),
		...(names.has('now') ? [rego`import data.regolith.expiry.now`] : []),
		...(names.has('instances') ? [rego`import data.regolith.instances`] : []),
		...(names.has('rbac') ? [rego`import data.regolith.rbac`] : []),
		// Conditions read only fields of the context, so a rule for it would only cost time.
		...(names.has('context') ? [rego`import input.context`] : []),
	];
	return used.length === 0 ? [] : [lines(used)];
}
