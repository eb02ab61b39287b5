import { isRecord } from '../equal-json.js';
import type { Json } from '../json.js';
import { derivationName, type PolicySchema, possibleDerivations, readDerivations } from '../matrix/policy-schema.js';
import {
	inKnownOrder,
	listMember,
	recordMember,
	textMember,
	textsMember,
	type Value,
	withDerivations,
	withList,
} from '../matrix/value-members.js';
import { computedRoleProblem, readComputedRole } from './computed-role.js';
import { readGrantableTo } from './grantable-to.js';
import { ownKey, type PartKind, type SchemaPart } from './schema-part.js';

/** Form fields for a schema part. Each part kind uses some fields. */
export interface PartForm {
	readonly key: string;
	readonly name: string;
	readonly description: string;
	/** Attribute type. */
	readonly type: string;
	/** Subject resource of a relation. */
	readonly subject: string;
	/** Action keys of a new resource, separated by commas or spaces. */
	readonly newActions: string;
	/** Chosen permissions for a role, or chosen actions for an action group. */
	readonly permissions: readonly string[];
	/** Extended roles. */
	readonly extends: readonly string[];
	/** Chosen derivations, by `derivationName`. */
	readonly derivations: readonly string[];
	/** True if a role held directly on an instance disables the derivations on this instance. */
	readonly directOnly: boolean;
	/** True if the role can be assigned to everyone. */
	readonly isPublic: boolean;
	/** Roles whose sets of users can be assigned this role. Each has the form `<resource>:<role>`. */
	readonly grantableTo: readonly string[];
	/** Condition sets under which a role can be assigned, or a relationship created. */
	readonly grantConditions: readonly string[];
	/** Expression of a computed role; `null` for a role that is assigned. */
	readonly computed: Json;
}

export type PartField = keyof PartForm;

/** Fields by part kind, except the key. */
export const partFields: Readonly<Record<PartKind, readonly PartField[]>> = {
	resource: ['name', 'description', 'newActions'],
	action: ['name', 'description'],
	attribute: ['type', 'description'],
	user_attribute: ['type', 'description'],
	relation: ['name', 'subject', 'description', 'grantConditions'],
	resource_role: [
		'name',
		'description',
		'permissions',
		'extends',
		'derivations',
		'computed',
		'isPublic',
		'grantableTo',
		'grantConditions',
	],
	action_group: ['name', 'description', 'permissions'],
	role: ['name', 'description', 'permissions', 'extends'],
};

/** Field of a part's value that contains its permissions. */
function permissionsMember(kind: PartKind): string {
	return kind === 'action_group' ? 'actions' : 'permissions';
}

/** Fills the form with a part; `null` for a new part. */
export function readPartForm(kind: PartKind, part: SchemaPart | null): PartForm {
	const value = part?.value ?? {};
	return {
		key: part === null ? '' : ownKey(part),
		name: textMember(value, 'name'),
		description: textMember(value, 'description'),
		type: textMember(value, 'type') || 'string',
		subject: textMember(value, 'subject_resource'),
		newActions: '',
		permissions: textsMember(value, permissionsMember(kind)),
		extends: textsMember(value, 'extends'),
		derivations: readDerivations(value).map(derivationName),
		directOnly: recordMember(recordMember(value, 'granted_to'), 'when')['no_direct_roles_on_object'] === true,
		isPublic: value['public'] === true,
		grantableTo: readGrantableTo(value),
		grantConditions: textsMember(value, 'grant_conditions'),
		computed: (value['computed'] ?? null) as Json,
	};
}

/** Returns a part's edited content. Fields without a form field keep their values from `before`. */
export function writePartForm(kind: PartKind, form: PartForm, before: Value, policy: PolicySchema, resource: string) {
	const fields = new Set(partFields[kind]);
	let value: Value = before;
	if (fields.has('name')) value = { ...value, name: form.name.trim() || form.key };
	if (fields.has('type')) value = { ...value, type: form.type };
	if (fields.has('subject')) value = { ...value, subject_resource: form.subject };
	value = withText(value, 'description', form.description);
	const actions = readKeys(form.newActions);
	if (kind === 'resource' && actions.length > 0) {
		value = { ...value, actions: Object.fromEntries(actions.map((key) => [key, { name: key }])) };
	}
	if (fields.has('permissions')) value = withChosen(value, permissionsMember(kind), form.permissions, before);
	if (fields.has('extends')) value = withChosen(value, 'extends', form.extends, before);
	if (fields.has('isPublic') && form.isPublic !== (value['public'] === true))
		value = { ...value, public: form.isPublic };
	if (kind === 'relation') return withChosen(value, 'grant_conditions', form.grantConditions, before);
	if (!fields.has('derivations')) return value;
	const isComputed = (value['computed'] ?? null) !== null;
	if (form.computed === null && !isComputed) {
		return withChosenDerivations(withHolders(value, form, before), form, policy, resource);
	}
	const { computed: _, granted_to: derived, grantable_to: __, grant_conditions: ___, ...rest } = value;
	// A computed role is neither derived nor assigned.
	if (form.computed !== null) return { ...rest, computed: form.computed };
	const assigned = derived === undefined ? rest : { ...rest, granted_to: derived };
	return withChosenDerivations(withHolders(assigned, form, before), form, policy, resource);
}

/** Writes a role's sets of users and grant conditions. */
function withHolders(value: Value, { grantableTo, grantConditions }: PartForm, before: Value): Value {
	const sets = grantableTo.map((name) => {
		const [on_resource, role] = name.split(':');
		return { role, on_resource };
	});
	const grantable = withList(value, 'grantable_to', inKnownOrder(sets, listMember(before, 'grantable_to')));
	return withChosen(grantable, 'grant_conditions', grantConditions, before);
}

function withText(value: Value, name: string, text: string): Value {
	const { [name]: _, ...rest } = value;
	return text.trim() === '' ? rest : { ...rest, [name]: text.trim() };
}

function withChosen(value: Value, name: string, chosen: readonly string[], before: Value): Value {
	return withList(value, name, inKnownOrder(chosen, listMember(before, name)));
}

function withChosenDerivations(value: Value, form: PartForm, policy: PolicySchema, resource: string): Value {
	const block = recordMember(value, 'granted_to');
	const rules = listMember(block, 'users_with_role').filter(isRecord);
	const known = new Map(readDerivations(value).map((derivation, index) => [derivationName(derivation), rules[index]]));
	const possible = new Map(possibleDerivations(policy, resource).map((one) => [derivationName(one), one]));
	const chosen = form.derivations.flatMap((name) => known.get(name) ?? possible.get(name) ?? []);
	const { when: _, ...rest } = block;
	const settings = form.directOnly ? { ...rest, when: { no_direct_roles_on_object: true } } : rest;
	return withDerivations({ ...value, granted_to: settings }, inKnownOrder(chosen, rules));
}

/** Splits a text into keys. */
export function readKeys(text: string): readonly string[] {
	return [...new Set(text.split(/[\s,]+/).filter((key) => key !== ''))];
}

const maxKeyLength = 512;
const reservedKeys: ReadonlySet<string> = new Set(['__proto__', '__tenant', '__user']);

/** Returns the problem with a key; `null` if the key is valid. */
export function keyProblem(key: string): string | null {
	if (key === '') return 'Enter a key.';
	if (!/^[A-Za-z0-9\-_]+$/.test(key)) return `\`${key}\` is not a key: use letters, digits, - and _.`;
	if (key.length > maxKeyLength) return `A key has at most ${maxKeyLength} characters.`;
	return reservedKeys.has(key) ? `\`${key}\` is a reserved key.` : null;
}

/** Returns the first problem in a form; `null` if it can be saved. `taken` contains the existing keys for this kind. */
export function partFormProblem(kind: PartKind, form: PartForm, taken: ReadonlySet<string>): string | null {
	const problem = keyProblem(form.key);
	if (problem !== null) return problem;
	if (taken.has(form.key)) return `\`${form.key}\` already exists.`;
	const computed = form.computed === null ? null : readComputedRole(form.computed);
	if (computed !== null && computedRoleProblem(computed) !== null) return computedRoleProblem(computed);
	if (kind === 'relation' && form.subject === '') return 'Choose the related resource.';
	const invalid = kind === 'resource' ? readKeys(form.newActions).find((key) => keyProblem(key) !== null) : undefined;
	return invalid === undefined ? null : keyProblem(invalid);
}
