import { isRecord } from '../equal-json.js';
import { groupBy } from '../group-by.js';
import type { SchemaObject, SchemaObjects } from './schema-objects.js';

/** Schema parts that the matrix reads: actions and grants. Keys are the document's keys. */
export interface PolicySchema {
	/** Resources, sorted by key. */
	readonly resources: ReadonlyMap<string, PolicyResource>;
	/** Tenant roles, keyed by role key. They grant `<resource>:<action>`. */
	readonly roles: ReadonlyMap<string, PolicyRole>;
	/** Resource roles, keyed by `<resource>:<role>`. They grant their resource's actions. */
	readonly resourceRoles: ReadonlyMap<string, PolicyRole>;
	readonly userSets: ReadonlyMap<string, PolicySet>;
	readonly resourceSets: ReadonlyMap<string, PolicySet>;
	/** Conditions for role assignments and relationships. */
	readonly grantSets: ReadonlyMap<string, PolicySet>;
	readonly rules: readonly SetRule[];
}

/** Resource with its actions, and the relations whose objects are its instances. */
export interface PolicyResource {
	readonly key: string;
	readonly name: string;
	/** Action names, keyed by action key. */
	readonly actions: ReadonlyMap<string, string>;
	/** Subject resource keys, keyed by relation key. */
	readonly relations: ReadonlyMap<string, string>;
}

/** Tenant role or resource role. */
export interface PolicyRole {
	readonly key: string;
	/** Resource of a resource role; `null` for a tenant role. */
	readonly resource: string | null;
	readonly name: string;
	readonly permissions: ReadonlySet<string>;
	/** Keys of the roles whose permissions this role inherits. */
	readonly extends: readonly string[];
	readonly derivations: readonly Derivation[];
}

/** Derivation from a role on a related instance. */
export interface Derivation {
	readonly role: string;
	readonly on_resource: string;
	readonly linked_by_relation: string;
}

/** Returns a derivation's identity within its role. */
export function derivationName({ role, on_resource, linked_by_relation }: Derivation): string {
	return [on_resource, role, linked_by_relation].join(' ');
}

/** Returns the possible subject roles for each relation of a resource. */
export function possibleDerivations(
	{ resources, resourceRoles }: PolicySchema,
	resource: string,
): readonly Derivation[] {
	return [...(resources.get(resource)?.relations ?? [])].flatMap(([linked_by_relation, on_resource]) =>
		[...resourceRoles.values()].flatMap((role) =>
			role.resource === on_resource ? [{ role: role.key, on_resource, linked_by_relation }] : [],
		),
	);
}

/** Condition set that is not automatic. */
export interface PolicySet {
	readonly key: string;
	readonly name: string;
	/** Resource of a resource set, or of a user set that names roles on the resource. */
	readonly resource: string | null;
	/** Parent set's key. */
	readonly parent: string | null;
}

/** Rule that grants an action to a user set on a resource set. */
export interface SetRule {
	readonly user_set: string;
	/** Permission, as `<resource>:<action>`. */
	readonly permission: string;
	readonly resource_set: string;
}

/**
 * Key prefix for automatic sets. `__autogen_<role>` represents a role, and `__autogen_<resource>` represents a whole
 * resource.
 */
export const automaticPrefix = '__autogen_';

/** Reads a schema's objects. Missing fields become empty. */
export function readPolicySchema(objects: SchemaObjects): PolicySchema {
	const byKind = groupBy(objects.values(), ({ kind }) => kind);
	const kind = (name: string) => byKind.get(name) ?? [];
	const relations = groupBy(kind('relation'), ({ key = '' }) => ownerPart(key));
	const sets = kind('condition_set').map((object) => ({ type: member(object, 'type'), set: readSet(object) }));
	const setsByKey = (wanted: string) => keyed(sets.flatMap(({ type, set }) => (type === wanted ? [set] : [])));
	return {
		resources: keyed(kind('resource').map((object) => readResource(object, relations.get(object.key ?? '') ?? []))),
		roles: keyed(kind('role').map((object) => readRole(object, null))),
		resourceRoles: keyed(
			kind('resource_role').map((object) => readRole(object, ownerPart(object.key ?? ''))),
			({ key, resource }) => `${resource}:${key}`,
		),
		userSets: setsByKey('userset'),
		resourceSets: setsByKey('resourceset'),
		grantSets: setsByKey('grant'),
		rules: kind('condition_set_rule').map((object) => ({
			user_set: textMember(object, 'user_set'),
			permission: textMember(object, 'permission'),
			resource_set: textMember(object, 'resource_set'),
		})),
	};
}

/** Returns the resource key in `<resource>:<key>`. */
function ownerPart(name: string): string {
	return name.split(':', 1)[0] ?? '';
}

function readResource(object: SchemaObject, relations: readonly SchemaObject[]): PolicyResource {
	const actions = Object.entries(recordMember(object, 'actions'));
	return {
		key: object.key ?? '',
		name: textMember(object, 'name'),
		actions: new Map(actions.map(([key, value]) => [key, textMember({ value }, 'name') || key])),
		relations: new Map(
			relations.map((relation) => [ownKey(relation.key ?? ''), textMember(relation, 'subject_resource')]),
		),
	};
}

/** Reads the derivations in a resource role's value. */
export function readDerivations(value: unknown): readonly Derivation[] {
	const rules = listMember({ value: member({ value }, 'granted_to') }, 'users_with_role').filter(isRecord);
	return rules.map((rule) => ({
		role: textMember({ value: rule }, 'role'),
		on_resource: textMember({ value: rule }, 'on_resource'),
		linked_by_relation: textMember({ value: rule }, 'linked_by_relation'),
	}));
}

function readRole(object: SchemaObject, resource: string | null): PolicyRole {
	return {
		key: ownKey(object.key ?? ''),
		resource,
		name: textMember(object, 'name'),
		permissions: new Set(texts(listMember(object, 'permissions'))),
		extends: texts(listMember(object, 'extends')),
		derivations: readDerivations(object.value),
	};
}

function readSet(object: SchemaObject): PolicySet {
	return {
		key: object.key ?? '',
		name: textMember(object, 'name'),
		resource: textMember(object, 'resource') || null,
		parent: textMember(object, 'parent') || null,
	};
}

/** Returns the last key in `<resource>:<key>`, or the key itself. */
function ownKey(name: string): string {
	return name.slice(name.indexOf(':') + 1);
}

function keyed<Item extends { readonly key: string }>(
	items: readonly Item[],
	name: (item: Item) => string = ({ key }) => key,
): ReadonlyMap<string, Item> {
	const named = items.map((item) => [name(item), item] as const);
	return new Map(named.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function member({ value }: { readonly value: unknown }, name: string): unknown {
	return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function textMember(holder: { readonly value: unknown }, name: string): string {
	const text = member(holder, name);
	return typeof text === 'string' ? text : '';
}

function listMember(holder: { readonly value: unknown }, name: string): readonly unknown[] {
	const list = member(holder, name);
	return Array.isArray(list) ? list : [];
}

function recordMember(holder: { readonly value: unknown }, name: string): Readonly<Record<string, unknown>> {
	const record = member(holder, name);
	return isRecord(record) ? record : {};
}

function texts(values: readonly unknown[]): readonly string[] {
	return values.filter((value) => typeof value === 'string');
}
