import { checkGrantConditions } from '../../../compiler/grant-check.js';
import { Failure, maxProblems, type Problem, unprocessable } from '../../failure.js';
import { nextTurn } from '../../limit/next-turn.js';
import { readSchema } from '../../store/model/model.js';
import { ConditionSet, grantConditionSets } from '../../store/table/condition-set.js';
import { type ConditionalFact, conditionalAssignments, conditionalTuples } from '../../store/table/conditional-fact.js';
import { type Relation, relationsWithConditions } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import { type Role, rolesWithConditions } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { refuseUnsoundLinks } from './computed-role.js';
import { type Declaring, valueProblems } from './condition-values.js';

/** Grant conditions: `grant` condition sets, and the roles and relations declaring them. */

/**
 * Returns the declared set keys of a role or relation, for references by id or key. Throws `unprocessable` for a
 * reference that names no `grant` set, with its location below `at`.
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
	const assigned = await conditionalAssignments(unit, { of: roles.map(({ id }) => id) });
	const byRole = new Map(roles.map((role) => [role.id, role]));
	for (const { of, condition_set } of assigned) {
		const role = byRole.get(of);
		if (role === undefined || role.grant_conditions.includes(condition_set)) continue;
		const message = `the role \`${role.key}\` is assigned under the condition \`${condition_set}\`, so it must declare it`;
		throw new Failure('conflict', message, { role: role.key, condition_set });
	}
}

/** Throws `conflict`, naming the relation, if a relation no longer declares a set under which it has relationships. */
export async function refuseWithdrawnRelationSets(unit: ReadingUnit, relations: readonly Relation[]): Promise<void> {
	const related = await conditionalTuples(unit, { of: relations.map(({ id }) => id) });
	const byRelation = new Map(relations.map((relation) => [relation.id, relation]));
	for (const { of, condition_set } of related) {
		const relation = byRelation.get(of);
		if (relation === undefined || relation.grant_conditions.includes(condition_set)) continue;
		const message = `the relation \`${relation.key}\` has relationships under the condition \`${condition_set}\`, so it must declare it`;
		throw new Failure('conflict', message, { relation: relation.key, condition_set });
	}
}

/** Throws `conflict` if roles or relations declare a set, naming them. */
export async function refuseDeclaredSet(unit: ReadingUnit, set: ConditionSet): Promise<void> {
	const declares = ({ grant_conditions }: { readonly grant_conditions: readonly string[] }) =>
		grant_conditions.includes(set.key);
	const [ofRoles, ofRelations] = [
		(await rolesWithConditions(unit)).filter(declares),
		(await relationsWithConditions(unit)).filter(declares),
	];
	if (ofRoles.length + ofRelations.length === 0) return;
	const roles = await namesInResources(unit, ofRoles, '#');
	const relations = await namesInResources(unit, ofRelations, ':');
	const shown = [shownNames('roles', roles), shownNames('relations', relations)].filter((text) => text !== '');
	const message = `the condition set \`${set.key}\` is declared by ${shown.join(' and by ')}`;
	throw new Failure('conflict', message, { condition_set: set.key, roles, relations });
}

function shownNames(kind: string, names: readonly string[]): string {
	if (names.length === 0) return '';
	const shown = names.slice(0, 10).map((name) => `\`${name}\``);
	const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
	return `the ${kind} ${shown.join(', ')}${more}`;
}

/** Throws `conflict` if assignments or relationships store values for a set's parameters. */
export async function refuseUsedParameters(unit: ReadingUnit, set: ConditionSet): Promise<void> {
	const uses = [
		['roles are assigned', await conditionalAssignments(unit, { sets: [set.key] })],
		['relationships exist', await conditionalTuples(unit, { sets: [set.key] })],
	] as const;
	for (const [text, used] of uses) {
		if (used.length === 0) continue;
		const message = `the parameters of \`${set.key}\` cannot change, because ${text} under this condition`;
		throw new Failure('conflict', message, { condition_set: set.key });
	}
}

/**
 * Throws `unprocessable` if a user set or a computed role excludes a role that users may hold conditionally, or if a
 * role is derived from a conditional computed role. Problems have the location `at`.
 */
export async function refuseExcludedConditions(unit: ReadingUnit, at: readonly (string | number)[]): Promise<void> {
	if ((await rolesWithConditions(unit)).length + (await relationsWithConditions(unit)).length === 0) return;
	const problems = checkGrantConditions(await readSchema(unit))
		.filter(({ code }) => code === 'excluded_condition')
		.map(({ message }) => ({ loc: [...at], msg: message, type: 'excluded_condition' }));
	if (problems.length > 0) throw unprocessable(problems.slice(0, maxProblems));
}

/**
 * Rejects an environment whose roles or relations declare missing sets, or whose grants name undeclared sets or values
 * that do not fit the parameters. Throws `conflict`, or `unprocessable` as `refuseExcludedConditions` does.
 */
export async function refuseWrongConditions(unit: ReadingUnit): Promise<void> {
	const sets = new Map((await grantConditionSets(unit)).map((set) => [set.key, set]));
	const roles = await rolesWithConditions(unit);
	refuseMissingSets('role', roles, sets);
	await refuseWrongGrants('a role is assigned', await conditionalAssignments(unit, {}), roles, sets);
	const relations = await relationsWithConditions(unit);
	refuseMissingSets('relation', relations, sets);
	const ofGroups = relations.find(({ made_for_groups }) => made_for_groups);
	if (ofGroups !== undefined) {
		const message = `the relation \`${ofGroups.key}\` was created for groups, so it cannot declare conditions`;
		throw new Failure('conflict', message, { relation: ofGroups.key });
	}
	if (relations.length > 0) await refuseUnsoundLinks(unit);
	await refuseWrongGrants('a relationship exists', await conditionalTuples(unit, {}), relations, sets);
	await refuseExcludedConditions(unit, ['body']);
}

type DeclaringRow = Pick<Role, 'id' | 'key' | 'grant_conditions'>;

function refuseMissingSets(
	title: Declaring['title'],
	declaring: readonly DeclaringRow[],
	sets: ReadonlyMap<string, ConditionSet>,
): void {
	for (const { key, grant_conditions } of declaring) {
		const missing = grant_conditions.find((set) => !sets.has(set));
		if (missing === undefined) continue;
		const message = `the ${title} \`${key}\` declares the condition set \`${missing}\`, which does not exist`;
		throw new Failure('conflict', message, { [title]: key, condition_set: missing });
	}
}

/** Rejects conditional grants with wrong conditions. */
async function refuseWrongGrants(
	text: string,
	grants: readonly ConditionalFact[],
	declaring: readonly DeclaringRow[],
	sets: ReadonlyMap<string, ConditionSet>,
): Promise<void> {
	const declared = new Map(declaring.map(({ id, grant_conditions }) => [id, grant_conditions]));
	for (const [index, { of, condition_set, condition_values }] of grants.entries()) {
		if (index % 1000 === 999) await nextTurn();
		const set = sets.get(condition_set);
		const under = `${text} under the condition \`${condition_set}\``;
		if (set === undefined || !declared.get(of)?.includes(condition_set)) {
			throw new Failure('conflict', `${under}, which is not declared`, { condition_set });
		}
		const [problem] = valueProblems(set, condition_values, []);
		if (problem !== undefined) {
			throw new Failure('conflict', `${under} with a wrong value: ${problem.msg}`, { condition_set });
		}
	}
}

/** Returns role or relation names: the resource key, the separator, and the key. */
async function namesInResources(
	unit: ReadingUnit,
	rows: readonly Pick<Role, 'key' | 'resource_id'>[],
	separator: string,
): Promise<readonly string[]> {
	const ids = new Set(rows.flatMap(({ resource_id }) => resource_id ?? []));
	const resources = await unit.findMany(Resource, [...ids]);
	return rows.map(({ key, resource_id }) => `${resources.get(resource_id ?? '')?.key ?? ''}${separator}${key}`).sort();
}
