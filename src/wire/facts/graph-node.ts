import { maxKeyLength } from '../common.js';

/**
 * Node names in graph responses and requests. The first part is the node kind, so a resource with the key `user` cannot
 * be mistaken for a user. Names contain keys and never ids, because a user key may look like a different user's id.
 */
export type NodeName = UserName | TenantName | InstanceNodeName | ResourceName | RoleNodeName;

/** `user:<key>`. */
export interface UserName {
	readonly kind: 'user';
	/** User key. It may contain any characters, including colons. */
	readonly key: string;
}

/** `tenant:<key>`. */
export interface TenantName {
	readonly kind: 'tenant';
	readonly key: string;
}

/** `instance:<resource>:<key>`, or a role on it, `instance:<resource>:<key>#<role>`. */
export interface InstanceNodeName {
	readonly kind: 'instance';
	readonly type: string;
	readonly key: string;
	readonly role?: string;
}

/** `resource:<key>`. */
export interface ResourceName {
	readonly kind: 'resource';
	readonly key: string;
}

/** A tenant role, `role:<key>`, or a resource role, `role:<resource>#<key>`. */
export interface RoleNodeName {
	readonly kind: 'role';
	readonly type?: string;
	readonly key: string;
}

/** Separates kinds, resources and keys. Except for user keys, no part may contain this character. */
const separator = ':';
/** Separates a role from its resource or instance. Except for user keys, no part may contain this character. */
const roleSeparator = '#';

/** Formats a node name as a string, which is the node's id. */
export function nodeText(name: NodeName): string {
	switch (name.kind) {
		case 'instance': {
			const role = name.role === undefined ? [] : [roleSeparator, name.role];
			return [name.kind, separator, name.type, separator, name.key, ...role].join('');
		}
		case 'role': {
			const type = name.type === undefined ? [] : [name.type, roleSeparator];
			return [name.kind, separator, ...type, name.key].join('');
		}
		default:
			return `${name.kind}${separator}${name.key}`;
	}
}

/** Parses a node name. Returns `null` if the string has a different form. Callers must check that the node exists. */
export function parseNode(text: string): NodeName | null {
	const at = text.indexOf(separator);
	const [kind, rest] = [text.slice(0, at), text.slice(at + 1)];
	switch (kind) {
		case 'user':
			return isShort(rest) ? { kind, key: rest } : null;
		case 'tenant':
		case 'resource':
			return isKey(rest) ? { kind, key: rest } : null;
		case 'instance':
			return parseInstance(rest);
		case 'role':
			return parseRole(rest);
		default:
			return null;
	}
}

function parseInstance(text: string): InstanceNodeName | null {
	const [place = '', role, ...more] = text.split(roleSeparator);
	const [type = '', key = '', ...others] = place.split(separator);
	if (more.length + others.length > 0 || !isKey(type) || !isKey(key)) return null;
	if (role === undefined) return { kind: 'instance', type, key };
	return isKey(role) ? { kind: 'instance', type, key, role } : null;
}

function parseRole(text: string): RoleNodeName | null {
	const [first = '', second, ...more] = text.split(roleSeparator);
	if (more.length > 0 || !isKey(first)) return null;
	if (second === undefined) return { kind: 'role', key: first };
	return isKey(second) ? { kind: 'role', type: first, key: second } : null;
}

function isKey(text: string): boolean {
	return isShort(text) && !text.includes(separator) && !text.includes(roleSeparator);
}

function isShort(text: string): boolean {
	return text.length > 0 && text.length <= maxKeyLength;
}
