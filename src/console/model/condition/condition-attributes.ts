import type { AttributeType } from './condition-operator.js';

/** Attributes available to conditions (docs/policy/condition-semantics.md: Attributes that need no definition). */

/** Attribute available to conditions. */
export interface ConditionAttribute {
	/** Full name, such as `user.age`. */
	readonly name: string;
	/** `null` if the type differs between resources. */
	readonly type: AttributeType | null;
	readonly note: string;
}

function resourceRoles(resource: string): ConditionAttribute {
	return { name: 'user.resource_roles', type: 'roles', note: `roles on the ${resource} of the check` };
}

/** Fields in the schema half that define attributes. */
export interface AttributeSchema {
	readonly user_attributes: Readonly<Record<string, { readonly type?: unknown }>>;
	readonly resources: Readonly<Record<string, { readonly attributes?: unknown }>>;
}

const builtIn: readonly ConditionAttribute[] = [
	{ name: 'user.key', type: 'string', note: 'key' },
	{ name: 'user.email', type: 'string', note: 'email' },
	{ name: 'user.first_name', type: 'string', note: 'first name' },
	{ name: 'user.last_name', type: 'string', note: 'last name' },
	{ name: 'user.roles', type: 'array', note: 'roles in the check’s tenant' },
	{ name: 'user.tenants', type: 'array', note: 'tenants where the user has a role' },
	{ name: 'resource.key', type: 'string', note: 'instance key' },
	{ name: 'resource.type', type: 'string', note: 'resource key' },
	{ name: 'resource.tenant', type: 'string', note: 'tenant of the instance' },
	{ name: 'tenant.key', type: 'string', note: 'key of the check’s tenant' },
	{ name: 'now', type: 'number', note: 'time of the check, in milliseconds since 1970' },
];

/** Set whose conditions are edited. */
interface EditedSet {
	readonly type: 'userset' | 'resourceset' | 'grant';
	readonly resource: string | null;
	readonly parameters?: Readonly<Record<string, { readonly type?: unknown }>> | undefined;
}

/**
 * Returns the attributes available to conditions, user attributes first. Includes the set's resource attributes; for a
 * user set without a resource, includes all resource attributes. Excludes custom tenant attributes and context
 * attributes, because they have no definitions. Conditions for grants do not compare resources.
 */
export function conditionAttributes(schema: AttributeSchema, set: EditedSet): readonly ConditionAttribute[] {
	const users = typed('user', schema.user_attributes, () => 'of users');
	if (set.type === 'grant') {
		const values = typed('grant', set.parameters ?? {}, () => 'value of the grant');
		return [...users, ...builtIn.filter(({ name }) => !name.startsWith('resource.')), ...values];
	}
	const isOfUsers = set.type === 'userset';
	const resource = isOfUsers ? set.resource : (set.resource ?? '');
	const asked = Object.entries(schema.resources).filter(([key]) => resource === null || key === resource);
	const found = new Map<string, ConditionAttribute>();
	for (const [key, { attributes }] of asked) {
		for (const one of typed('resource', members(attributes), () => `of ${key}`)) {
			const other = found.get(one.name);
			if (other === undefined) found.set(one.name, one);
			else {
				const type = other.type === one.type ? one.type : null;
				found.set(one.name, { ...other, type, note: 'of several resources' });
			}
		}
	}
	const objects = ['user.', 'resource.', 'tenant.', 'now'];
	const rank = ({ name }: ConditionAttribute) => objects.findIndex((object) => name.startsWith(object));
	const roles = isOfUsers && resource !== null ? [resourceRoles(resource)] : [];
	return [...users, ...found.values(), ...builtIn, ...roles].sort((left, right) => rank(left) - rank(right));
}

/** Returns the attributes of each resource without prefix, for conditions on related instances. */
export function relatedAttributes({
	resources,
}: Pick<AttributeSchema, 'resources'>): ReadonlyMap<string, readonly ConditionAttribute[]> {
	return new Map(
		Object.entries(resources)
			.filter(([key]) => key !== '__user')
			.map(([key, { attributes }]) => [key, typed('', members(attributes), () => `of ${key}`)]),
	);
}

function typed(
	object: string,
	attributes: Readonly<Record<string, { readonly type?: unknown }>>,
	note: (key: string) => string,
): readonly ConditionAttribute[] {
	return Object.entries(attributes).map(([key, { type }]) => {
		const known = isType(type) ? type : null;
		return {
			name: object === '' ? key : `${object}.${key}`,
			type: known,
			note: known === null ? note(key) : `${known}, ${note(key)}`,
		};
	});
}

function members(value: unknown): Readonly<Record<string, { readonly type?: unknown }>> {
	return (value ?? {}) as Readonly<Record<string, { readonly type?: unknown }>>;
}

const types: ReadonlySet<unknown> = new Set<AttributeType>([
	'bool',
	'number',
	'string',
	'time',
	'array',
	'json',
	'object',
	'object_array',
]);

function isType(value: unknown): value is AttributeType {
	return types.has(value);
}

/** Returns an attribute's type; `null` if the type is unknown, for example inside a nested value. */
export function attributeType(attributes: readonly ConditionAttribute[], name: string): AttributeType | null {
	const written = name.startsWith('subject.') ? `user.${name.slice('subject.'.length)}` : name;
	return attributes.find((one) => one.name === written)?.type ?? null;
}
