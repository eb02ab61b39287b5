import { checkGrantConditions } from '../../../compiler/grant-check.js';
import { groupBy } from '../../../compiler/group-by.js';
import type { ParameterType } from '../../../compiler/model.js';
import { Failure, maxProblems, type Problem, unprocessable } from '../../failure.js';
import { nextTurn } from '../../limit/next-turn.js';
import { readSchema } from '../../store/model/model.js';
import { ConditionSet, grantConditionSets } from '../../store/table/condition-set.js';
import { Resource } from '../../store/table/resource.js';
import { type Role, rolesWithConditions } from '../../store/table/role.js';
import { type AssignmentRow, conditionalAssignments } from '../../store/table/role-assignment.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';

/** Conditions for role assignments: `grant` condition sets, and the roles declaring them. */

/** Condition columns of an assignment or a tuple. */
type ConditionColumns = Pick<AssignmentRow, 'condition_set' | 'condition_values'>;

/** Converts the condition of an assignment or a tuple to its API object; `undefined` if there is none. */
export function readCondition({ condition_set: set, condition_values: values }: ConditionColumns) {
	return set === null ? undefined : { set, values: { ...values } };
}

/**
 * Returns a role's declared set keys, for references by id or key. Throws `unprocessable` for a reference that names no
 * `grant` set, with its location below `at`.
 */
export async function resolveDeclaredSets(
	unit: ReadingUnit,
	references: readonly string[],
	at: readonly (string | number)[],
): Promise<readonly string[]> {
	if (references.length === 0) return [];
	const sets = await grantSets(unit, references);
	const problems = references.flatMap((reference, index): readonly Problem[] => {
		const msg = `must be a condition set of type \`grant\`, got \`${reference.slice(0, 100)}\``;
		return sets.has(reference) ? [] : [{ loc: [...at, index], msg, type: 'unknown_condition_set' }];
	});
	if (problems.length > 0) throw unprocessable(problems.slice(0, maxProblems));
	return [...new Set(references.flatMap((reference) => sets.get(reference)?.key ?? []))];
}

/** Returns the `grant` condition sets with these ids or keys, keyed by reference. */
export async function grantSets(
	unit: ReadingUnit,
	references: readonly string[],
): Promise<ReadonlyMap<string, ConditionSet>> {
	const wanted = [...new Set(references)];
	const found = (await unit.findNamed(ConditionSet, wanted)).filter(({ type }) => type === 'grant');
	return new Map(
		wanted.flatMap((reference) => {
			const set = found.find(({ id, key }) => key === reference || id === reference.toLowerCase());
			return set === undefined ? [] : [[reference, set] as const];
		}),
	);
}

/** Throws `conflict`, naming the role, if a role no longer declares a set under which it is assigned. */
export async function refuseWithdrawnSets(unit: ReadingUnit, roles: readonly Role[]): Promise<void> {
	const assigned = await conditionalAssignments(unit, { role_ids: roles.map(({ id }) => id) });
	const byRole = new Map(roles.map((role) => [role.id, role]));
	for (const { role_id, condition_set } of assigned) {
		const role = byRole.get(role_id);
		if (role === undefined || role.grant_conditions.includes(condition_set)) continue;
		const message = `the role \`${role.key}\` is assigned under the condition \`${condition_set}\`, so it must declare it`;
		throw new Failure('conflict', message, { role: role.key, condition_set });
	}
}

/** Throws `conflict` if roles declare a set, naming the roles. */
export async function refuseDeclaredSet(unit: ReadingUnit, set: ConditionSet): Promise<void> {
	const declaring = (await rolesWithConditions(unit)).filter(({ grant_conditions }) =>
		grant_conditions.includes(set.key),
	);
	if (declaring.length === 0) return;
	const roles = await roleNames(unit, declaring);
	const shown = roles.slice(0, 10).map((name) => `\`${name}\``);
	const more = roles.length > shown.length ? ` and ${roles.length - shown.length} more` : '';
	const message = `the condition set \`${set.key}\` is declared by the roles ${shown.join(', ')}${more}`;
	throw new Failure('conflict', message, { condition_set: set.key, roles });
}

/** Throws `conflict` if assignments store values for a set's parameters. */
export async function refuseUsedParameters(unit: ReadingUnit, set: ConditionSet): Promise<void> {
	const [used] = await conditionalAssignments(unit, { sets: [set.key] });
	if (used === undefined) return;
	const message = `the parameters of \`${set.key}\` cannot change, because roles are assigned under this condition`;
	throw new Failure('conflict', message, { condition_set: set.key });
}

/**
 * Throws `unprocessable`, naming the set, if a set excludes a role that users may hold conditionally. `at` is the last
 * written location in the request.
 */
export async function refuseExcludedConditions(unit: ReadingUnit, at: readonly (string | number)[]): Promise<void> {
	if ((await rolesWithConditions(unit)).length === 0) return;
	const problems = checkGrantConditions(await readSchema(unit))
		.filter(({ code }) => code === 'excluded_condition')
		.map(({ message }) => ({ loc: [...at], msg: message, type: 'excluded_condition' }));
	if (problems.length > 0) throw unprocessable(problems.slice(0, maxProblems));
}

/**
 * Rejects an environment whose roles declare missing sets, or whose assignments name sets their roles do not declare or
 * values that do not fit the parameters. Throws `conflict`, or `unprocessable` as `refuseExcludedConditions` does.
 */
export async function refuseWrongConditions(unit: ReadingUnit): Promise<void> {
	const roles = await rolesWithConditions(unit);
	const sets = new Map((await grantConditionSets(unit)).map((set) => [set.key, set]));
	for (const { key, grant_conditions } of roles) {
		const missing = grant_conditions.find((set) => !sets.has(set));
		if (missing === undefined) continue;
		const message = `the role \`${key}\` declares the condition set \`${missing}\`, which does not exist`;
		throw new Failure('conflict', message, { role: key, condition_set: missing });
	}
	const declared = new Map(roles.map((role) => [role.id, role]));
	const assigned = await conditionalAssignments(unit, {});
	for (const [index, { role_id, condition_set, condition_values }] of assigned.entries()) {
		if (index % 1000 === 999) await nextTurn();
		const set = sets.get(condition_set);
		if (set === undefined || !declared.get(role_id)?.grant_conditions.includes(condition_set)) {
			const message = `a role is assigned under the condition \`${condition_set}\`, which the role does not declare`;
			throw new Failure('conflict', message, { condition_set });
		}
		const [problem] = valueProblems(set, condition_values, []);
		if (problem !== undefined) {
			const message = `a role is assigned under the condition \`${condition_set}\` with a wrong value: ${problem.msg}`;
			throw new Failure('conflict', message, { condition_set });
		}
	}
	if (roles.length > 0) await refuseExcludedConditions(unit, ['body']);
}

/** Returns problems with an assignment's values for its condition parameters. */
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
				const msg = `field required: a ${type}, for the condition \`${key}\``;
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

/** Returns role names, as `<resource key>#<role key>`. */
async function roleNames(unit: ReadingUnit, roles: readonly Role[]): Promise<readonly string[]> {
	const byResource = groupBy(roles, ({ resource_id }) => resource_id ?? '');
	const resources = await unit.findMany(Resource, [...byResource.keys()]);
	return roles.map(({ key, resource_id }) => `${resources.get(resource_id ?? '')?.key ?? ''}#${key}`).sort();
}
