import type { ParameterType } from '../../../compiler/model.js';
import type { Problem } from '../../failure.js';
import type { ConditionSet } from '../../store/table/condition-set.js';
import type { AssignmentRow } from '../../store/table/role-assignment.js';

/** Grant conditions in assignments and tuples: a declared set, with parameter values. */

/** Assignment or tuple columns with the condition. */
type ConditionColumns = Pick<AssignmentRow, 'condition_set' | 'condition_values'>;

/** Converts a grant's condition to its API object; `undefined` if there is none. */
export function readCondition({ condition_set: set, condition_values: values }: ConditionColumns) {
	return set === null ? undefined : { set, values: { ...values } };
}

/** A role or relation whose grants may have conditions. */
export interface Declaring {
	readonly title: 'role' | 'relation';
	readonly key: string;
	readonly grant_conditions: readonly string[];
}

/**
 * Returns the problems with the conditional grant at the location `at`: a set that its role or relation does not
 * declare, or values that do not fit the parameters. `sets` contains the sets by key.
 */
export function conditionProblems(
	{ condition_set, condition_values }: ConditionColumns,
	{ title, key, grant_conditions }: Declaring,
	sets: ReadonlyMap<string, ConditionSet>,
	at: readonly (string | number)[],
): readonly Problem[] {
	const problem = (msg: string, type: string) => [{ loc: [...at, 'condition', 'set'], msg, type }];
	const named = condition_set ?? '';
	const shown = `\`${named.slice(0, 100)}\``;
	const set = sets.get(named);
	if (set === undefined)
		return problem(`must be a condition set of type \`grant\`, got ${shown}`, 'unknown_condition_set');
	if (!grant_conditions.includes(set.key)) {
		const known = grant_conditions.map((one) => `\`${one}\``).join(', ') || 'none';
		const msg = `the ${title} \`${key}\` does not declare ${shown} in \`grant_conditions\`; it declares ${known}`;
		return problem(msg, 'undeclared_condition');
	}
	return valueProblems(set, condition_values ?? {}, [...at, 'condition', 'values']);
}

/** Returns problems with a grant's values for its condition parameters. */
export function valueProblems(
	{ key, parameters }: Pick<ConditionSet, 'key' | 'parameters'>,
	values: Readonly<Record<string, unknown>>,
	at: readonly (string | number)[],
): readonly Problem[] {
	const declared = parameters ?? {};
	const place = (name: string) => [...at, name];
	const names = Object.keys(declared);
	return [
		...names.flatMap((name): readonly Problem[] => {
			const type = declared[name]?.type ?? 'string';
			const value = Object.hasOwn(values, name) ? values[name] : undefined;
			if (value === undefined || value === null) {
				const msg = `field required: a value of type \`${type}\` for the condition \`${key}\``;
				return [{ loc: place(name), msg, type: 'missing' }];
			}
			return isOfType(type, value)
				? []
				: [{ loc: place(name), msg: `must be ${typeTexts[type]}`, type: 'value_error' }];
		}),
		...Object.keys(values)
			.filter((name) => !Object.hasOwn(declared, name))
			.map((name) => {
				const known = names.map((one) => `\`${one}\``).join(', ') || 'none';
				const msg = `the condition \`${key}\` has no parameter \`${name.slice(0, 100)}\`; its parameters are ${known}`;
				return { loc: place(name), msg, type: 'unknown_parameter' };
			}),
	];
}

const typeTexts: Readonly<Record<ParameterType, string>> = {
	string: 'a string',
	number: 'a number',
	bool: 'true or false',
	array: `an array of strings, numbers or booleans, with at most 100 items`,
};

const maxItems = 100;

function isOfType(type: ParameterType, value: unknown): boolean {
	if (type === 'bool') return typeof value === 'boolean';
	if (type !== 'array') return typeof value === type;
	const isPlain = (item: unknown) => ['string', 'number', 'boolean'].includes(typeof item);
	return Array.isArray(value) && value.length <= maxItems && value.every(isPlain);
}
