/** Attribute names in conditions. */
import type { AttributeObject, AttributePath } from './condition.js';

/** Maps the text before the first dot to an object. */
const objects: ReadonlyMap<string, AttributeObject> = new Map([
	['user', 'user'],
	['subject', 'user'],
	['resource', 'resource'],
	['tenant', 'tenant'],
	['context', 'context'],
]);

/** Names for facts and for values from the check: stored attributes with the same name do not replace them. */
const asked: Readonly<Record<AttributeObject, readonly string[]>> = {
	user: ['key', 'roles', 'tenants'],
	resource: ['key', 'type', 'tenant'],
	tenant: ['key'],
	context: [],
};

/** Known even without a definition, but stored like other attributes. */
const known: readonly string[] = ['email', 'first_name', 'last_name'];

/** Parses an attribute name such as `user.address.city`; `undefined` if the text is not an attribute name. */
export function attributeNamed(text: string): AttributePath | undefined {
	const [first = '', ...path] = text.split('.');
	const object = objects.get(first);
	return object === undefined || !isPath(path) ? undefined : { object, path };
}

/** Splits a member path such as `address.city`; `undefined` if a name is empty. */
export function membersNamed(text: string): readonly string[] | undefined {
	const path = text.split('.');
	return isPath(path) ? path : undefined;
}

/** Formats an attribute as text, with `user` for `subject`. */
export function attributeText({ object, path }: AttributePath): string {
	return [object, ...path].join('.');
}

/** True for facts and for values from the check, such as `user.roles`. */
export function isAsked({ object, path }: AttributePath): boolean {
	return asked[object].includes(path[0] ?? '');
}

/** True if the attribute needs no definition. */
export function isBuiltIn(attribute: AttributePath): boolean {
	return isAsked(attribute) || (attribute.object === 'user' && known.includes(attribute.path[0] ?? ''));
}

function isPath(path: readonly string[]): boolean {
	return path.length > 0 && path.every((name) => name !== '');
}
