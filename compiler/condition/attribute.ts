/** Attribute names in conditions. */
import type { AttributeObject, AttributePath } from './condition.js';

/** Maps the name before the first dot to an object. */
const objects: ReadonlyMap<string, AttributeObject> = new Map([
	['user', 'user'],
	['subject', 'user'],
	['resource', 'resource'],
	['tenant', 'tenant'],
	['context', 'context'],
	['grant', 'grant'],
]);

/**
 * Attribute names that refer to facts or to values from the check. Stored attributes with the same names do not replace
 * these values.
 */
const asked: Readonly<Record<Exclude<AttributeObject, 'now'>, readonly string[]>> = {
	user: ['key', 'roles', 'tenants', 'resource_roles'],
	resource: ['key', 'type', 'tenant'],
	tenant: ['key'],
	context: [],
	grant: [],
};

/** User attributes that need no definition, but are stored like other attributes. */
const known: readonly string[] = ['email', 'first_name', 'last_name'];

/** Parses an attribute name such as `user.address.city`; returns `undefined` if the string is not an attribute name. */
export function attributeNamed(text: string): AttributePath | undefined {
	if (text === 'now') return { object: 'now', path: [] };
	const [first = '', ...path] = text.split('.');
	const object = objects.get(first);
	return object === undefined || !isPath(path) ? undefined : { object, path };
}

/** Splits a field path such as `address.city`. Returns `undefined` if a name is empty. */
export function membersNamed(text: string): readonly string[] | undefined {
	const path = text.split('.');
	return isPath(path) ? path : undefined;
}

/** Formats an attribute as a string, such as `user.age`. */
export function attributeText({ object, path }: AttributePath): string {
	return [object, ...path].join('.');
}

/** True if the attribute refers to a fact or to a value from the check, such as `user.roles`. */
export function isAsked({ object, path }: AttributePath): boolean {
	return object === 'now' || asked[object].includes(path[0] ?? '');
}

/** True if the attribute needs no definition. */
export function isBuiltIn(attribute: AttributePath): boolean {
	return isAsked(attribute) || (attribute.object === 'user' && known.includes(attribute.path[0] ?? ''));
}

function isPath(path: readonly string[]): boolean {
	return path.length > 0 && path.every((name) => name !== '');
}
