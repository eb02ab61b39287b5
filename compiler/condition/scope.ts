/** How names of attributes are resolved in one place of a condition. */
import { isArray, isObject } from '../json.js';
import type { Json } from '../model.js';
import { attributeNamed, attributeText, membersNamed } from './attribute.js';
import type { AttributePath, ConditionPath } from './condition.js';
import { excerpt } from './excerpt.js';
import { logicalHint } from './name-hint.js';
import { requireWellFormed } from './operand.js';
import { type Operator, operatorNamed } from './operator.js';
import type { ParseRun } from './parse-run.js';

/** Resolves names: of attributes in a set, of members inside `match`. */
export interface Scope<Attribute> {
	readonly run: ParseRun;
	/** Whether operands may be references. */
	readonly refs: boolean;
	/** Resolves a name; `value` is the comparison below it. Where problems were recorded, the result means nothing. */
	attribute(name: string, value: unknown, at: ConditionPath): Attribute;
	/** Records what is wrong with comparing this attribute with this value. */
	compared(attribute: Attribute, operator: Operator, value: Json, at: ConditionPath): void;
}

/** In a user set, names are attributes of the user; in a resource set, of the resource. */
export function attributeScope(run: ParseRun, object: 'user' | 'resource'): Scope<AttributePath> {
	return {
		run,
		refs: true,
		attribute(name, value, at) {
			const attribute = attributeNamed(name);
			if (attribute?.object !== object) {
				const known = attribute !== undefined;
				const msg = known
					? strangerMessage(object, name)
					: (operatorMessage(object, name) ?? nameMessage(object, name, value));
				run.refuse('wrong_attribute', at, msg, name);
			} else if (requireWellFormed(run, name, at)) {
				return run.name(attribute, at);
			}
			return { object, path: [name] };
		},
		compared(attribute, operator, value, at) {
			if (attributeText(attribute) === 'user.roles' && isOfItems(operator)) {
				refuseInstanceRoles(run, value, at);
			}
		},
	};
}

/** Whether an operator tests values, or items of arrays, for equality. */
function isOfItems({ operand }: Operator): boolean {
	return operand === 'compared' || operand === 'list';
}

/** Keys hold no colon: a condition that names a role on an instance could never match. */
function refuseInstanceRoles(run: ParseRun, value: Json, at: ConditionPath): void {
	if (isArray(value)) {
		for (const [index, item] of value.entries()) {
			refuseInstanceRoles(run, item, [...at, index]);
		}
	} else if (typeof value === 'string' && value.includes(':')) {
		const role = excerpt(value.slice(value.lastIndexOf(':') + 1));
		const msg =
			`\`user.roles\` holds the keys of roles in the tenant, such as ${role}, and no roles on instances: ${excerpt(value)} ` +
			'never is among them; what a role on an instance allows is said by its permissions';
		run.refuse('wrong_operand', at, msg, value);
	}
}

/** Inside `match`, names are members of an object, without a prefix. */
export function memberScope(run: ParseRun): Scope<readonly string[]> {
	return {
		run,
		refs: false,
		attribute(name, value, at) {
			const path = membersNamed(name);
			const hint = Array.isArray(value) ? logicalHint(name) : undefined;
			if (hint !== undefined) {
				run.refuse('wrong_shape', at, `unknown logical operator \`${name}\`: did you mean ${hint}?`, name);
			} else if (path === undefined) {
				run.refuse('wrong_attribute', at, `${excerpt(name)} names no member: a name is empty`, name);
			} else {
				requireWellFormed(run, name, at);
			}
			return path ?? [name];
		},
		compared() {},
	};
}

/** The message for an attribute of another object. */
function strangerMessage(object: 'user' | 'resource', name: string): string {
	const of =
		object === 'user'
			? 'a user set compares attributes of the user'
			: 'a resource set compares attributes of the resource';
	return `${of}: ${excerpt(name)} can only be an operand, as in {"${object}.key": {"equals": {"ref": ${excerpt(name)}}}}`;
}

/** The message for an operator that stands in place of an attribute; `undefined` when it is none. */
function operatorMessage(object: 'user' | 'resource', name: string): string | undefined {
	return (
		operatorNamed(name) &&
		`the operator \`${name}\` must stand below an attribute, as in {"${object}.key": {"${name}": …}}`
	);
}

/** The message for any other name: a misspelt logical operator, or something unknown. */
function nameMessage(object: 'user' | 'resource', name: string, value: unknown): string {
	const hint = Array.isArray(value) || isObject(value) ? logicalHint(name) : undefined;
	if (hint !== undefined) {
		return `unknown logical operator \`${name}\`: did you mean ${hint}?`;
	}
	const others = name.startsWith('environment.') ? '; what is sent with a check is `context`' : '';
	return `must be \`allOf\`, \`anyOf\`, \`and\`, \`or\`, \`not\` or an attribute such as "${object}.key", not ${excerpt(name)}${others}`;
}
