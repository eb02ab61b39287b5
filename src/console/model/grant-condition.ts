import { readOperandText } from './condition/condition-operator.js';
import type { Json } from './json.js';
import type { Phrase } from './phrase.js';

/**
 * Conditions of role assignments and relationships (docs/policy/grant-conditions.md). The server also validates them.
 */

/** Value types for parameters, in words. */
export const parameterTypes = { string: 'Text', number: 'Number', bool: 'Yes or no', array: 'List' } as const;

export type ParameterType = keyof typeof parameterTypes;

/** Parameters of a `grant` condition set. */
export type GrantParameters = Readonly<Record<string, { readonly type: ParameterType }>>;

/** Condition of a grant: a condition set, with a value for each of its parameters. */
export interface GrantCondition {
	readonly set: string;
	readonly values: Readonly<Record<string, unknown>>;
}

/** Rules for assignments of a resource role. */
export interface AssignableRole {
	readonly resource: string;
	readonly key: string;
	/** True if the role can be assigned to everyone. */
	readonly isPublic: boolean;
	/** Roles whose sets of users, such as `team:eng#member`, can be assigned this role. */
	readonly grantableTo: readonly { readonly role: string; readonly on_resource: string }[];
	/** Condition sets under which the role can be assigned. */
	readonly conditions: readonly GrantSet[];
}

/** A condition set that a role or relation declares. */
export interface GrantSet {
	readonly key: string;
	readonly name: string;
	readonly parameters: GrantParameters;
}

/** User key for everyone. */
export const everyone = '*';

/** Returns the problem with the holder of a new assignment; `null` if the role can be assigned to the holder. */
export function holderProblem(holder: string, role: AssignableRole, set: string): string | null {
	const isUserSet = holder.includes('#');
	if (holder !== everyone && !isUserSet) return null;
	if (set !== '') return 'Under a condition, a role can be assigned only to single users.';
	if (!isUserSet) return role.isPublic ? null : `“${role.key}” is not public, so it cannot be assigned to everyone.`;
	const [, resource = '', held = ''] = /^([^:#]+):[^:#]+#([^:#]+)$/.exec(holder) ?? [];
	if (resource === '') return 'Enter a set of users as resource:key#role.';
	if (role.grantableTo.some((one) => one.on_resource === resource && one.role === held)) return null;
	const possible = role.grantableTo.map(userSetText).join(', ');
	return possible === ''
		? `“${role.key}” cannot be assigned to sets of users.`
		: `“${role.key}” can be assigned only to these sets of users: ${possible}.`;
}

/** Formats the sets of users by a role, such as `team:…#member`. */
export function userSetText({ role, on_resource }: AssignableRole['grantableTo'][number]): string {
	return `${on_resource}:…#${role}`;
}

/** Text in a parameter's field, and the item type for a list. */
export interface ValueText {
	readonly text: string;
	readonly items: 'texts' | 'numbers';
}

/** Condition in a form: a set, or no set, and the texts of its value fields. */
export interface ConditionForm {
	readonly set: string;
	readonly texts: Readonly<Record<string, ValueText>>;
}

export const noCondition: ConditionForm = { set: '', texts: {} };

/**
 * Reads the condition in a form for a request; `null` for no condition. Throws an error for invalid values, and for a
 * set that the role or relation does not declare. `declaring` names the role or relation in the message.
 */
export function readConditionForm(
	{ set, texts }: ConditionForm,
	conditions: readonly GrantSet[],
	declaring: string,
): { readonly set: string; readonly values: Record<string, Json> } | null {
	if (set === '') return null;
	const parameters = conditions.find(({ key }) => key === set)?.parameters;
	if (parameters === undefined) throw new Error(`The ${declaring} does not allow the condition ${set}.`);
	const read = readGrantValues(parameters, texts);
	if ('problem' in read) throw new Error(read.problem);
	return { set, values: { ...read.values } };
}

const emptyValue: ValueText = { text: '', items: 'texts' };

/** Returns a parameter's text. Ignores inherited properties, which may have the parameter's name. */
export function valueTextIn(texts: Readonly<Record<string, ValueText>>, name: string): ValueText {
	return (Object.hasOwn(texts, name) ? texts[name] : undefined) ?? emptyValue;
}

const maxItems = 100;

/** Reads the values for a condition. Returns the problem with the first invalid value instead, if there is one. */
export function readGrantValues(
	parameters: GrantParameters,
	texts: Readonly<Record<string, ValueText>>,
): { readonly values: Readonly<Record<string, Json>> } | { readonly problem: string } {
	const values: Record<string, Json> = {};
	for (const [name, { type }] of Object.entries(parameters)) {
		const given = valueTextIn(texts, name);
		const value = readValue(type, given);
		if (value === undefined) return { problem: valueProblem(name, type, given) };
		values[name] = value;
	}
	return { values };
}

function readValue(type: ParameterType, { text, items }: ValueText): Json | undefined {
	if (type === 'number') return readOperandText('number', text);
	if (type === 'array') {
		const lines = listItems(text);
		const isComplete = lines.length > 0 && lines.length <= maxItems;
		return isComplete ? readOperandText(items, lines.join('\n')) : undefined;
	}
	if (text === '') return undefined;
	return type === 'bool' ? text === 'true' : text;
}

function listItems(text: string): readonly string[] {
	return text
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '');
}

function valueProblem(name: string, type: ParameterType, { text }: ValueText): string {
	if (type === 'string') return `Enter text for “${name}”.`;
	if (type === 'number') return `Enter a number for “${name}”.`;
	if (type === 'bool') return `Choose yes or no for “${name}”.`;
	const count = listItems(text).length;
	if (count === 0) return `Enter at least one item for “${name}”.`;
	if (count > maxItems) return `Enter at most ${maxItems} items for “${name}”.`;
	return `Enter numbers for “${name}”, one per line.`;
}

/** Formats a condition with its values, such as "`up_to_limit` with limit 500". */
export function conditionPhrases({ set, values }: GrantCondition): readonly Phrase[] {
	const sorted = Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
	const parts = sorted.flatMap(([name, value], index): readonly Phrase[] => [
		index === 0 ? ' with ' : ', ',
		{ key: name },
		' ',
		{ key: valueText(value) },
	]);
	return [{ name: set }, ...parts];
}

const maxShown = 200;

function valueText(value: unknown): string {
	if (typeof value === 'boolean') return value ? 'yes' : 'no';
	const text = Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
	return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/** Returns the problem with the name of a new parameter; `null` if it is valid. */
export function parameterProblem(name: string, parameters: GrantParameters): string | null {
	if (!/^[A-Za-z0-9\-_]+$/.test(name)) return 'A parameter name can contain only letters, digits, - and _.';
	if (Object.hasOwn(parameters, name)) return `“${name}” already exists.`;
	return Object.keys(parameters).length < maxParameters ? null : `A set has at most ${maxParameters} parameters.`;
}

const maxParameters = 20;
