/** Attributes as conditions name them. */
import type { AttributeObject, AttributePath } from './condition.js';

/** The object that the text before the first dot stands for. */
const objects: ReadonlyMap<string, AttributeObject> = new Map([
	['user', 'user'],
	['subject', 'user'],
	['resource', 'resource'],
	['tenant', 'tenant'],
	['context', 'context'],
]);

/** Names that stand for facts and for what the check asks: no attribute of the same name replaces them. */
const asked: Readonly<Record<AttributeObject, readonly string[]>> = {
	user: ['key', 'roles', 'tenants'],
	resource: ['key', 'type', 'tenant'],
	tenant: ['key'],
	context: [],
};

/** Known without a definition too, but stored like any other attribute. */
const known: readonly string[] = ['email', 'first_name', 'last_name'];

/** The attribute that a text names, such as `user.address.city`; `undefined` when it names none. */
export function attributeNamed(text: string): AttributePath | undefined {
	const [first = '', ...path] = text.split('.');
	const object = objects.get(first);
	return object === undefined || !isPath(path) ? undefined : { object, path };
}

/** The names of a path from an object's members, such as `address.city`; `undefined` when one is empty. */
export function membersNamed(text: string): readonly string[] | undefined {
	const path = text.split('.');
	return isPath(path) ? path : undefined;
}

/** The attribute as one text, with `user` for `subject`. */
export function attributeText({ object, path }: AttributePath): string {
	return [object, ...path].join('.');
}

/** Whether the attribute stands for facts or for what the check asks, such as `user.roles`. */
export function isAsked({ object, path }: AttributePath): boolean {
	return asked[object].includes(path[0] ?? '');
}

/** Whether the attribute is known without being defined. */
export function isBuiltIn(attribute: AttributePath): boolean {
	return isAsked(attribute) || (attribute.object === 'user' && known.includes(attribute.path[0] ?? ''));
}

function isPath(path: readonly string[]): boolean {
	return path.length > 0 && path.every((name) => name !== '');
}
