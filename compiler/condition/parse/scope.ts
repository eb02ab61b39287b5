/** Resolves attribute names at a location in a condition. */
import { isArray, isObject } from '../../json.js';
import type { Json } from '../../model.js';
import { acceptedKinds, orderedKind } from '../accepted-kinds.js';
import { attributeNamed, attributeText, membersNamed } from '../attribute.js';
import type { AttributeObject, AttributePath, Condition, ConditionPath, ConditionType } from '../condition.js';
import { excerpt } from '../excerpt.js';
import { type Operator, operatorNamed } from '../operator.js';
import { isResourceRoles, readRoleComparison } from '../resource-roles.js';
import { logicalHint } from './name-hint.js';
import { requireWellFormed } from './operand.js';
import type { ParseRun } from './parse-run.js';

/** Resolves names. A name refers to an attribute or, inside `match`, to an object's field. */
export interface Scope<Attribute> {
	readonly run: ParseRun;
	/** If set, operands may be references. */
	readonly refs: boolean;
	/** Resolves a name; `value` is the comparison below it. If this records a problem, the result must not be used. */
	attribute(name: string, value: unknown, at: ConditionPath): Attribute;
	/** Reads a comparison with a special form. Returns `undefined` for all other comparisons, and null after a problem. */
	special(
		attribute: Attribute,
		operator: Operator,
		value: unknown,
		at: ConditionPath,
	): Condition<Attribute> | null | undefined;
	/** Records the problems of a comparison. `value` is the operand; `undefined` for a reference or a `match`. */
	compared(attribute: Attribute, operator: Operator, value: Json | undefined, at: ConditionPath): void;
}

/** Objects whose attributes each kind of condition compares. */
const comparedObjects = {
	userset: ['user', 'context', 'now'],
	resourceset: ['resource', 'context', 'now'],
	grant: ['user', 'context', 'grant', 'now'],
} as const satisfies Record<ConditionType, readonly AttributeObject[]>;

/** An example attribute for each kind, for messages. */
const examples = { userset: 'user.key', resourceset: 'resource.key', grant: 'context.amount' } as const;

/**
 * Returns the scope of a set. A set compares user or resource attributes, context attributes, and the check's time. A
 * user set that is `bound` to a resource also compares the user's roles on the resource.
 */
export function attributeScope(run: ParseRun, type: ConditionType, bound: boolean): Scope<AttributePath> {
	const objects: readonly AttributeObject[] = comparedObjects[type];
	return {
		run,
		refs: true,
		attribute(name, value, at) {
			const attribute = attributeNamed(name);
			const reason = attribute && run.reasonAgainst(attribute);
			if (reason !== undefined) {
				run.refuse('wrong_attribute', at, reason, name);
			} else if (attribute === undefined || !objects.includes(attribute.object)) {
				const known = attribute !== undefined && !isResourceRoles(attribute);
				const msg = known
					? strangerMessage(type, name)
					: (operatorMessage(type, name) ?? nameMessage(type, name, value));
				run.refuse('wrong_attribute', at, msg, name);
			} else if (isResourceRoles(attribute) && (!bound || attribute.path.length > 1)) {
				run.refuse('wrong_attribute', at, bound ? noMembersText : unboundText, name);
			} else if (requireWellFormed(run, name, at)) {
				return run.name(attribute, at);
			}
			return { object: 'context', path: [name] };
		},
		special(attribute, operator, value, at) {
			return isResourceRoles(attribute) ? readRoleComparison(run, attribute, operator, value, at) : undefined;
		},
		compared(attribute, operator, value, at) {
			if (value !== undefined && attributeText(attribute) === 'user.roles' && isOfItems(operator)) {
				refuseInstanceRoles(run, value, at);
			}
			if (attribute.object === 'now') refuseOtherThanNumbers(run, operator, value, at);
		},
	};
}

/** Rejects comparisons of `now` that could never match. */
function refuseOtherThanNumbers(run: ParseRun, operator: Operator, value: Json | undefined, at: ConditionPath): void {
	const isOther = value !== undefined && operator.ordered === true && orderedKind(value) !== 'number';
	if (!isOther && acceptedKinds[operator.attribute].accepts(0)) return;
	const msg =
		'`now` is the time of the check in milliseconds since 1970, so compare it with numbers; to compare stored ' +
		'times, use `within-last` or `older-than`';
	run.refuse('wrong_operand', at, msg, value);
}
const noMembersText = '`user.resource_roles` is a list of role keys, which has no fields';
const unboundText =
	'`user.resource_roles` requires a user set with a resource (`resource_id`); tenant roles are in `user.roles`';

/** True if an operator tests a value, or array items, for equality. */
function isOfItems({ operand }: Operator): boolean {
	return operand === 'compared' || operand === 'list';
}

/** Rejects names of roles on instances. They could never match, because role keys contain no colon. */
function refuseInstanceRoles(run: ParseRun, value: Json, at: ConditionPath): void {
	if (isArray(value)) {
		for (const [index, item] of value.entries()) {
			refuseInstanceRoles(run, item, [...at, index]);
		}
	} else if (typeof value === 'string' && value.includes(':')) {
		const role = excerpt(value.slice(value.lastIndexOf(':') + 1));
		const msg =
			`\`user.roles\` contains keys of tenant roles, such as ${role}, and no roles on instances, so it never contains ` +
			`${excerpt(value)}; roles on the resource are in \`user.resource_roles\`, for a user set with \`resource_id\``;
		run.refuse('wrong_operand', at, msg, value);
	}
}

/**
 * Returns the scope inside `match`, where names are an object's fields, without a prefix. With `related`, a resource
 * type, the fields are attributes of its instances.
 */
export function memberScope(run: ParseRun, related?: string): Scope<readonly string[]> {
	return {
		run,
		refs: false,
		attribute(name, value, at) {
			const path = membersNamed(name);
			const hint = Array.isArray(value) ? logicalHint(name) : undefined;
			if (hint !== undefined) {
				run.refuse('wrong_shape', at, `unknown logical operator \`${name}\`: did you mean ${hint}?`, name);
			} else if (path === undefined) {
				run.refuse('wrong_attribute', at, `${excerpt(name)} contains an empty name`, name);
			} else if (requireWellFormed(run, name, at) && related !== undefined) {
				run.related.push({ type: related, attribute: path[0] ?? name, at });
			}
			return path ?? [name];
		},
		special: () => undefined,
		compared() {},
	};
}

/** Returns the message for an attribute on the wrong object. */
function strangerMessage(type: ConditionType, name: string): string {
	const of =
		type === 'userset'
			? 'a user set compares attributes of the user and of the context'
			: type === 'resourceset'
				? 'a resource set compares attributes of the resource and of the context'
				: 'a condition of type `grant` compares attributes of the user, of the context and of the grant';
	return `${of}: ${excerpt(name)} can only be an operand, as in {"${examples[type]}": {"equals": {"ref": ${excerpt(name)}}}}`;
}

/** Returns the message for an operator where an attribute is expected; `undefined` if the name is not an operator. */
function operatorMessage(type: ConditionType, name: string): string | undefined {
	return (
		operatorNamed(name) &&
		`the operator \`${name}\` must be nested in an attribute, as in {"${examples[type]}": {"${name}": …}}`
	);
}

/** Returns the message for any other name: a misspelled logical operator, or an unknown name. */
function nameMessage(type: ConditionType, name: string, value: unknown): string {
	if (attributeNamed(name) !== undefined) return '`user.resource_roles` is available only in user sets';
	const hint = Array.isArray(value) || isObject(value) ? logicalHint(name) : undefined;
	if (hint !== undefined) {
		return `unknown logical operator \`${name}\`: did you mean ${hint}?`;
	}
	const others = name.startsWith('environment.') ? '; the data sent with a check is `context`' : '';
	return `must be \`allOf\`, \`anyOf\`, \`and\`, \`or\`, \`not\` or an attribute such as "${examples[type]}", not ${excerpt(name)}${others}`;
}
