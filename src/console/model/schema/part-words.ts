import { groupBy } from '../group-by.js';
import type { Json } from '../json.js';
import { derivationSource } from '../matrix/matrix-words.js';
import { readDerivations } from '../matrix/policy-schema.js';
import { textMember, textsMember, type Value } from '../matrix/value-members.js';
import type { Phrase } from '../phrase.js';
import { readComputedRole } from './computed-role.js';
import { readGrantableTo } from './grantable-to.js';
import { type PartKind, partResource, type SchemaPart } from './schema-part.js';

export const partWords: Readonly<Record<PartKind, string>> = {
	resource: 'resource',
	action: 'action',
	attribute: 'attribute',
	relation: 'relation',
	resource_role: 'role',
	action_group: 'action group',
	role: 'tenant role',
	user_attribute: 'user attribute',
};

/** Words for states in the draft. */
export const partStateWords = { added: 'new', changed: 'changed', removed: 'removed' } as const;

export const attributeTypes = {
	string: 'Text',
	number: 'Number',
	bool: 'True or false',
	time: 'Time',
	array: 'List',
	object: 'Object',
	object_array: 'List of objects',
	json: 'Any JSON',
} as const;

/** Describes a part's content, line by line. */
export function partLines(part: SchemaPart): readonly (readonly Phrase[])[] {
	const { kind, value } = part;
	const description = textMember(value, 'description');
	const lines = linesByKind[kind](value, partResource(part) ?? '');
	return description === '' ? lines : [...lines, [description]];
}

const linesByKind: Readonly<Record<PartKind, (value: Value, resource: string) => readonly (readonly Phrase[])[]>> = {
	resource: () => [],
	action: () => [],
	attribute: attributeLines,
	user_attribute: attributeLines,
	relation: (value, resource) => [
		['From ', { name: textMember(value, 'subject_resource') }, ' to ', { name: resource }],
		...listLines('Relationships can have conditions: ', textsMember(value, 'grant_conditions')),
	],
	resource_role: (value) => [
		...computedLines((value['computed'] ?? null) as Json),
		...(value['public'] === true ? [['Public: can be assigned to everyone']] : []),
		...grantLines(value),
		...listLines('Extends ', textsMember(value, 'extends')),
		...listLines('Can be assigned to sets of users: ', readGrantableTo(value)),
		...listLines('Can be assigned under conditions: ', textsMember(value, 'grant_conditions')),
		...readDerivations(value).map((derivation): readonly Phrase[] => [
			'Derived from ',
			...derivationSource(derivation),
		]),
	],
	action_group: (value) => {
		const lines = listLines('Contains ', textsMember(value, 'actions'));
		return lines.length === 0 ? [['Contains no actions']] : lines;
	},
	role: (value) => [...grantLines(value), ...listLines('Extends ', textsMember(value, 'extends'))],
};

/** Describes a role's own permissions. Tenant roles name the resource of each permission. */
function grantLines(value: Value): readonly (readonly Phrase[])[] {
	const permissions = textsMember(value, 'permissions');
	if (permissions.length === 0) return [['No permissions of its own']];
	const byResource = groupBy(permissions, (permission) => permission.slice(0, permission.lastIndexOf(':') + 1));
	return [...byResource].map(([prefix, granted]): readonly Phrase[] => [
		'Grants ',
		...listed(granted.map((permission) => permission.slice(prefix.length))),
		...(prefix === '' ? [] : [' on every ', { name: prefix.slice(0, -1) }]),
	]);
}

/** Describes a computed role's expression. */
function computedLines(expression: Json): readonly (readonly Phrase[])[] {
	if (expression === null) return [];
	const read = readComputedRole(expression);
	if (read === null) return [['Computed from ', { name: JSON.stringify(expression) }]];
	const { all, any, none } = read;
	const parts: readonly (readonly Phrase[])[] = [
		...(all.length > 0 ? [['all of ', ...listed(all)]] : []),
		...(any.length > 0 ? [['any of ', ...listed(any)]] : []),
		...(none.length > 0 ? [['none of ', ...listed(none)]] : []),
	];
	return [['Computed: ', ...parts.flatMap((part, index) => (index === 0 ? part : ['; ', ...part]))]];
}

function attributeLines(value: Value): readonly (readonly Phrase[])[] {
	const type = textMember(value, 'type');
	const known = Object.entries(attributeTypes).find(([name]) => name === type);
	return [[known?.[1] ?? type]];
}

function listLines(start: string, names: readonly string[]): readonly (readonly Phrase[])[] {
	return names.length === 0 ? [] : [[start, ...listed(names)]];
}

function listed(names: readonly string[]): readonly Phrase[] {
	return names.flatMap((name, index) => (index === 0 ? [{ name }] : [', ', { name }]));
}
