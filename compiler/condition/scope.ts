/** What the names of attributes mean where a condition stands. */
import { isArray } from '../json.js';
import type { Json } from '../model.js';
import { attributeNamed, attributeText, membersNamed } from './attribute.js';
import type { AttributePath, Place } from './condition.js';
import { logicalHint } from './hint.js';
import { isWellFormed } from './operand.js';
import { type Operator, operatorNamed } from './operator.js';
import type { Reading } from './reading.js';
import { isObject, shown } from './shown.js';

/** See above. */
export interface Scope<Attribute> {
	readonly reading: Reading;
	/** Whether operands may be references. */
	readonly refs: boolean;
	/** The attribute of that name, whose comparison is `value`. Problems are noted, and then the result means nothing. */
	attribute(name: string, value: unknown, at: Place): Attribute;
	/** Notes what is wrong with comparing this attribute with this value. */
	compared(attribute: Attribute, operator: Operator, value: Json, at: Place): void;
}

/** In a user set, attributes of the user; in a resource set, of the resource. */
export function attributeScope(reading: Reading, object: 'user' | 'resource'): Scope<AttributePath> {
	return {
		reading,
		refs: true,
		attribute(name, value, at) {
			const attribute = attributeNamed(name);
			if (attribute?.object !== object) {
				const known = attribute !== undefined;
				const msg = known
					? strangerMessage(object, name)
					: (operatorMessage(object, name) ?? nameMessage(object, name, value));
				reading.refuse('wrong_attribute', at, msg, name);
			} else if (isWellFormed(reading, name, at)) {
				return reading.name(attribute, at);
			}
			return { object, path: [name] };
		},
		compared(attribute, operator, value, at) {
			if (attributeText(attribute) === 'user.roles' && isOfItems(operator)) {
				refuseInstanceRoles(reading, value, at);
			}
		},
	};
}

/** Whether an operator compares an array, or its items, with values that are equal. */
function isOfItems({ operand }: Operator): boolean {
	return operand === 'compared' || operand === 'list';
}

/** Keys hold no colon: a condition that names a role on an instance could never match. */
function refuseInstanceRoles(reading: Reading, value: Json, at: Place): void {
	if (isArray(value)) {
		for (const [index, item] of value.entries()) {
			refuseInstanceRoles(reading, item, [...at, index]);
		}
	} else if (typeof value === 'string' && value.includes(':')) {
		const role = shown(value.slice(value.lastIndexOf(':') + 1));
		const msg =
			`\`user.roles\` holds the keys of roles in the tenant, such as ${role}, and no roles on instances: ${shown(value)} ` +
			'never is among them; what a role on an instance allows is said by its permissions';
		reading.refuse('wrong_operand', at, msg, value);
	}
}

/** Inside `match`: members of an object, by their names alone. */
export function memberScope(reading: Reading): Scope<readonly string[]> {
	return {
		reading,
		refs: false,
		attribute(name, value, at) {
			const path = membersNamed(name);
			const hint = Array.isArray(value) ? logicalHint(name) : undefined;
			if (hint !== undefined) {
				reading.refuse('wrong_shape', at, `unknown logical operator \`${name}\`: did you mean ${hint}?`, name);
			} else if (path === undefined) {
				reading.refuse('wrong_attribute', at, `${shown(name)} names no member: a name is empty`, name);
			} else {
				isWellFormed(reading, name, at);
			}
			return path ?? [name];
		},
		compared() {},
	};
}

/** An attribute of something else. */
function strangerMessage(object: 'user' | 'resource', name: string): string {
	const of =
		object === 'user'
			? 'a user set compares attributes of the user'
			: 'a resource set compares attributes of the resource';
	return `${of}: ${shown(name)} can only be an operand, as in {"${object}.key": {"equals": {"ref": ${shown(name)}}}}`;
}

/** An operator where an attribute should be. */
function operatorMessage(object: 'user' | 'resource', name: string): string | undefined {
	return (
		operatorNamed(name) &&
		`the operator \`${name}\` must stand below an attribute, as in {"${object}.key": {"${name}": …}}`
	);
}

/** Something else: a logical operator written in another way, or nothing that is known. */
function nameMessage(object: 'user' | 'resource', name: string, value: unknown): string {
	const hint = Array.isArray(value) || isObject(value) ? logicalHint(name) : undefined;
	if (hint !== undefined) {
		return `unknown logical operator \`${name}\`: did you mean ${hint}?`;
	}
	const others = name.startsWith('environment.') ? '; what is sent with a check is `context`' : '';
	return `must be \`allOf\`, \`anyOf\`, \`and\`, \`or\`, \`not\` or an attribute such as "${object}.key", not ${shown(name)}${others}`;
}
