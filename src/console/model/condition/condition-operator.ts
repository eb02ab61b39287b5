import type { AcceptedKind } from '../../../../compiler/condition/accepted-kinds.js';
import { type OperatorForm, operatorTable } from '../../../../compiler/condition/operator-table.js';
import { isJsonObject, type Json } from '../json.js';
import type { ConditionComparison } from './condition-tree.js';
import { readMatchOperand, writeMatchOperand } from './match-operand.js';

/** Comparison operators for forms (docs/policy/conditions.md: Operators). The server validates the result again. */

/** Value type of an attribute. `roles`, a list of roles on the resource, is compared only with role keys. */
export type AttributeType =
	| 'bool'
	| 'number'
	| 'string'
	| 'time'
	| 'array'
	| 'json'
	| 'object'
	| 'object_array'
	| 'roles';

/** Operand kind: a value like the attribute's, an ordered value, a text, an array, a range … */
type OperandKind = 'value' | 'item' | 'ordered' | 'text' | 'duration' | 'list' | 'range' | 'boolean' | 'match';

export interface ConditionOperator {
	readonly name: string;
	/** Label between an attribute and a value. */
	readonly label: string;
	/** Attribute types supported by the operator. If an attribute's type is unknown, any type is assumed. */
	readonly types: readonly AttributeType[];
	readonly operand: OperandKind;
	/** True if the operand must be a literal value. False if it may also be an attribute. */
	readonly literal: boolean;
}

const any = ['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'] as const;
const ordered = ['number', 'string', 'time', 'json'] as const;
const text = ['string', 'time', 'json'] as const;
const list = ['array', 'object_array', 'json'] as const;

/** Attribute types, keyed by the kind of attribute that an operator accepts. */
const attributeTypes: Readonly<Partial<Record<AcceptedKind, readonly AttributeType[]>>> = {
	orderable: ordered,
	string: text,
	searched: text,
	matched: text,
	address: ['string', 'json'],
	instant: text,
	list,
	array: list,
	object: ['object', 'json'],
};

/** Operand kinds, keyed by the kind of operand that an operator accepts. */
const operandKinds: Readonly<Partial<Record<AcceptedKind, OperandKind>>> = {
	orderable: 'ordered',
	string: 'text',
	sought: 'text',
	duration: 'duration',
	list: 'list',
	ranges: 'list',
	range: 'range',
	boolean: 'boolean',
	match: 'match',
};

/** All operators, in display order. */
export const conditionOperators: readonly ConditionOperator[] = Object.entries<OperatorForm>(operatorTable).map(
	([name, { words, attribute, operand, literal = false }]) => {
		const types = attributeTypes[attribute] ?? any;
		const isItem = types === list && operand === 'compared';
		return {
			name,
			label: isItem ? `${words.holds} the item` : words.holds,
			types,
			operand: isItem ? 'item' : (operandKinds[operand] ?? 'value'),
			literal,
		};
	},
);

/** Returns the operators for an attribute type; all operators if the type is unknown. */
export function operatorsFor(type: AttributeType | null): readonly ConditionOperator[] {
	if (type === null) return conditionOperators;
	if (type === 'roles') return conditionOperators.filter(({ name }) => roleOperators.has(name));
	const fitting = conditionOperators.filter(({ types }) => types.includes(type));
	return type === 'string' ? [...fitting, ...instanceOperators] : fitting;
}

/** The operators for texts that are keys of related instances. */
const instanceOperators = conditionOperators
	.filter(({ name }) => name === 'object_match')
	.map((one) => ({ ...one, label: 'is the key of an instance that matches' }));

/** The operators for `user.resource_roles`. */
const roleOperators: ReadonlySet<string> = new Set(['array_contains', 'array_superset', 'array_intersect']);

export function operatorNamed(name: string): ConditionOperator | undefined {
	// `string_contains` is an older alias, which the server also accepts.
	const known = name === 'string_contains' ? 'contains' : name;
	return conditionOperators.find((one) => one.name === known);
}

/** Kind of form field for an operand. */
export type OperandForm = 'text' | 'number' | 'boolean' | 'texts' | 'numbers' | 'ref' | 'json';

/** Returns the form that can represent an operand unchanged. */
export function operandForm(operand: Json): OperandForm {
	if (typeof operand === 'string') return /[\r\n]/.test(operand) ? 'json' : 'text';
	if (typeof operand === 'number') return 'number';
	if (typeof operand === 'boolean') return 'boolean';
	if (Array.isArray(operand)) {
		const items: readonly Json[] = operand;
		if (items.every((item) => typeof item === 'string' && item !== '' && !/[\r\n]/.test(item))) return 'texts';
		return items.every((item) => typeof item === 'number') ? 'numbers' : 'json';
	}
	return isRef(operand) && !/[\r\n]/.test(operand.ref) ? 'ref' : 'json';
}

function isRef(operand: Json): operand is { readonly ref: string } {
	return isJsonObject(operand) && Object.keys(operand).length === 1 && typeof operand['ref'] === 'string';
}

/** Returns the possible operand forms for an operator and an attribute type. The first is the most common. */
export function operandForms(name: string, type: AttributeType | null): readonly OperandForm[] {
	const known = operatorNamed(name);
	if (known === undefined) return ['text', 'number', 'boolean', 'texts', 'numbers', 'ref', 'json'];
	if (type === 'roles') return [known.operand === 'item' ? 'text' : 'texts'];
	const forms = literalForms(known.operand, type);
	return known.literal ? forms : [...forms, 'ref'];
}

function literalForms(kind: OperandKind, type: AttributeType | null): readonly OperandForm[] {
	if (kind === 'text' || kind === 'duration') return ['text'];
	if (kind === 'boolean') return ['boolean'];
	if (kind === 'match') return ['json'];
	if (kind === 'item') return ['text', 'number', 'boolean', 'json'];
	const isOfTexts = type === 'string' || type === 'time';
	if (kind === 'ordered') return isOfTexts ? ['text'] : type === 'number' ? ['number'] : ['number', 'text'];
	if (kind === 'list' || kind === 'range') {
		if (isOfTexts) return ['texts'];
		return type === 'number' ? ['numbers'] : ['texts', 'numbers', 'json'];
	}
	if (isOfTexts) return ['text'];
	if (type === 'number') return ['number'];
	if (type === 'bool') return ['boolean'];
	if (type === 'array') return ['texts', 'numbers', 'json'];
	return type === null ? ['text', 'number', 'boolean', 'json'] : ['json'];
}

const firstOperands: Readonly<Record<OperandForm, Json>> = {
	text: '',
	number: 0,
	boolean: true,
	texts: [],
	numbers: [],
	ref: { ref: '' },
	json: {},
};

/** Returns the initial operand of a form. */
export function firstOperand(form: OperandForm, operatorName: string): Json {
	const kind = operatorNamed(operatorName)?.operand;
	if (kind === 'match') return form === 'json' ? { match: {} } : firstOperands[form];
	return kind === 'duration' ? 'P30D' : firstOperands[form];
}

/** Formats an operand as the text in a field with this form. */
export function operandText(operand: Json, form = operandForm(operand)): string {
	if (form === 'text') return String(operand);
	if (form === 'ref') return isRef(operand) ? operand.ref : '';
	if ((form === 'texts' || form === 'numbers') && Array.isArray(operand)) return operand.map(String).join('\n');
	return JSON.stringify(operand);
}

/** Parses an operand from a field's text. Returns `undefined` if the text is invalid for this form. */
export function readOperandText(form: OperandForm, given: string): Json | undefined {
	if (form === 'text') return given;
	if (form === 'ref') return { ref: given };
	const lines = given.split('\n').filter((line) => line !== '');
	if (form === 'texts') return lines;
	if (form === 'numbers') {
		const numbers = lines.map(readJson);
		return numbers.every((item) => typeof item === 'number') ? numbers : undefined;
	}
	const value = readJson(given);
	return form === 'json' || typeof value === form ? value : undefined;
}

function readJson(given: string): Json | undefined {
	try {
		const value: Json = JSON.parse(given);
		return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
	} catch {
		return undefined;
	}
}

/**
 * Returns the comparison with a different attribute. Keeps the operator and the operand if the attribute's type
 * supports them.
 */
export function withAttribute(
	comparison: ConditionComparison,
	attribute: string,
	type: AttributeType | null,
): ConditionComparison {
	const renamed = { ...comparison, attribute };
	if (type === null) return renamed;
	const offered = operatorsFor(type);
	const isOffered = offered.some(({ name }) => name === operatorNamed(comparison.operator)?.name);
	return withOperator(renamed, isOffered ? comparison.operator : (offered[0]?.name ?? comparison.operator), type);
}

/** Returns the comparison with a different operator. Keeps the operand if the new operator supports it. */
export function withOperator(
	comparison: ConditionComparison,
	name: string,
	type: AttributeType | null,
): ConditionComparison {
	const forms = operandForms(name, type);
	const [first = 'json'] = forms;
	const fits = forms.includes(operandForm(comparison.operand));
	const kind = operatorNamed(name)?.operand ?? 'value';
	const stays = fits && (kind === operatorNamed(comparison.operator)?.operand || !['match', 'duration'].includes(kind));
	const operand = stays ? comparison.operand : firstOperand(first, name);
	const match = kind === 'match' && type === 'string' ? readMatchOperand(operand) : null;
	return {
		...comparison,
		operator: name,
		operand: match?.related === null ? writeMatchOperand({ ...match, related: '' }) : operand,
	};
}
