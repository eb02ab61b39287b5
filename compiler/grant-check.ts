/** Checks the conditions of role assignments and relationships. */
import { parseConditions } from './condition/parse/grammar.js';
import {
	computedRoles,
	declaringRelations,
	declaringRoles,
	derivationEdges,
	roleName,
	rolesUnderConditions,
	roleText,
} from './cycle.js';
import { type Diagnostic, finding, keyProblems, tick } from './diagnostic.js';
import type { Schema } from './model.js';
import { rolesNamedBySet } from './policy/named-roles.js';
import { roleOperands } from './role-expression.js';

/**
 * Returns all findings about grant conditions, in no particular order: invalid conditions and declarations, and sets
 * and computed roles that exclude a role held conditionally. Never throws.
 */
export function checkGrantConditions(schema: Schema): readonly Diagnostic[] {
	const { grant_conditions = [] } = schema;
	const known = new Set(grant_conditions.map(({ key }) => key));
	return [
		...keyProblems(['grant_conditions'], grant_conditions),
		...grant_conditions.flatMap(({ key, conditions, parameters }) => {
			const parsed = parseConditions(conditions, { type: 'grant', bound: false, parameters: Object.keys(parameters) });
			const place = (at: readonly (string | number)[]) => ['grant_conditions', key, 'conditions', ...at.map(String)];
			return 'problems' in parsed
				? parsed.problems.map(({ at, msg }) => finding('malformed_conditions', place(at), msg))
				: [];
		}),
		...[
			...declaringRoles(schema).map(([{ type, role }, sets]) => ({ place: [type, 'roles', role], sets })),
			...declaringRelations(schema).map(([type, relation, sets]) => ({ place: [type, 'relations', relation], sets })),
		].flatMap(({ place, sets }) =>
			sets
				.filter((set) => !known.has(set))
				.map((set) =>
					finding(
						'unknown_condition_set',
						['resources', ...place, 'grant_conditions', set],
						`the condition ${tick(set)} does not exist`,
					),
				),
		),
		...computedUnderConditions(schema),
		...excludedConditions(schema),
	];
}

/** Returns a finding for each computed role that declares conditions: a computed role is never assigned. */
function computedUnderConditions({ resources }: Schema): readonly Diagnostic[] {
	return resources.flatMap(({ key: type, roles }) =>
		roles
			.filter(({ computed, grant_conditions = [] }) => computed !== undefined && grant_conditions.length > 0)
			.map(({ key: role }) => {
				const message = `the computed role ${tick(role)} declares conditions, but it is never assigned`;
				return finding('misplaced_computed_role', ['resources', type, 'roles', role, 'computed'], message);
			}),
	);
}

/** Returns a finding for each role excluded by a set or a computed role, if users may hold it conditionally. */
function excludedConditions(schema: Schema): readonly Diagnostic[] {
	const conditional = rolesUnderConditions(schema);
	if (conditional.size === 0) return [];
	return [
		...excludedByComputedRoles(schema, conditional),
		...excludedBySets(schema, conditional),
		...derivedThroughComputed(schema, conditional),
	];
}

/**
 * Returns a finding for each computed role with derived roles, if users may hold it conditionally. These schemas are
 * rejected until property tests compare such roles in checks and listings.
 */
function derivedThroughComputed(schema: Schema, conditional: ReadonlySet<string>): readonly Diagnostic[] {
	const sources = new Set(derivationEdges(schema).map(({ source }) => roleName(source)));
	return computedRoles(schema)
		.map(({ target }) => target)
		.filter((role) => conditional.has(roleName(role)) && sources.has(roleName(role)))
		.map(({ type, role }) => {
			const message =
				`users may hold the computed role ${tick(roleText({ type, role }))} under a condition, so no role can be derived ` +
				'from it';
			return finding('excluded_condition', ['resources', type, 'roles', role, 'computed'], message);
		});
}

function excludedByComputedRoles({ resources }: Schema, conditional: ReadonlySet<string>): readonly Diagnostic[] {
	return resources.flatMap(({ key: type, roles }) =>
		roles.flatMap(({ key, computed }) =>
			(computed === undefined ? [] : roleOperands(computed)).flatMap(({ role, at, negated }) => {
				const name = { type, role };
				if (!negated || !conditional.has(roleName(name))) return [];
				const message =
					`the computed role ${tick(roleText({ type, role: key }))} excludes ${tick(roleText(name))}, which users may hold ` +
					'under a condition: a check without the context of the condition would give these users the computed role';
				const place = ['resources', type, 'roles', key, 'computed', ...at.map(String)];
				return [finding('excluded_condition', place, message)];
			}),
		),
	);
}

function excludedBySets(schema: Schema, conditional: ReadonlySet<string>): readonly Diagnostic[] {
	return schema.condition_sets.flatMap((set) =>
		rolesNamedBySet(set).flatMap(({ role, at, negated }) => {
			const name = { type: set.resource ?? '', role };
			if (!negated || !conditional.has(roleName(name))) return [];
			const message =
				`the set ${tick(set.key)} excludes ${tick(roleText(name))}, which users may hold under a condition: a check ` +
				'without the context of the condition would select these users';
			return [finding('excluded_condition', ['condition_sets', set.key, 'conditions', ...at.map(String)], message)];
		}),
	);
}
