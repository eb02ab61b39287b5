/** Checks computed roles. */

import {
	computedRoles,
	derivationEdges,
	derivationGraph,
	type RoleName,
	roleLinks,
	roleName,
	roleText,
	stronglyConnectedComponents,
} from './cycle.js';
import { findRepeating } from './data/walk.js';
import { type Diagnostic, finding, tick } from './diagnostic.js';
import type { Resource, ResourceRole, Schema } from './model.js';
import { extendsCycles } from './policy/grant.js';
import { operandKeys, requiresRole, roleFormula, roleOperands } from './role-expression.js';

/** Returns all findings about a resource type's computed roles, in no particular order. */
export function checkComputedRoles({ key, roles }: Resource): readonly Diagnostic[] {
	const place = ['resources', key, 'roles'];
	const operands = roles.map((role) => ({ key: role.key, extends: operandKeys(role.computed) }));
	return [
		...roles.flatMap((role) => checkComputedRole([...place, role.key], role, roles)),
		...extendsCycles(operands).map((chain) => {
			const [first = ''] = chain;
			const cycle = [...chain, first].map(tick).join(' from ');
			const message = `roles are computed from each other in a cycle: ${cycle}`;
			return finding('misplaced_computed_role', [...place, first, 'computed'], message);
		}),
	];
}

function checkComputedRole(
	place: readonly string[],
	{ key, computed, derivations }: ResourceRole,
	roles: readonly ResourceRole[],
): readonly Diagnostic[] {
	if (computed === undefined) return [];
	const at = [...place, 'computed'];
	const misplaced = (message: string) => finding('misplaced_computed_role', at, message);
	return [
		...roleOperands(computed)
			.filter(({ role }) => !roles.some((other) => other.key === role))
			.map(({ role, at: within }) =>
				finding('unknown_role', [...at, ...within.map(String)], `role ${tick(role)} does not exist`),
			),
		...(requiresRole(roleFormula(computed))
			? []
			: [misplaced(`an alternative of the computed role ${tick(key)} requires no role`)]),
		...(derivations.length === 0 ? [] : [misplaced(`the computed role ${tick(key)} has derivations`)]),
	];
}

/** A role whose functions cannot be written, because it is connected to a computed role with derived roles. */
export interface ComputedLinkProblem {
	readonly role: RoleName;
	/**
	 * - `circular`: the role is computed, and derived from itself
	 * - `walked`: the role leads to the computed role, and is in a cycle with edges that depend on the check
	 * - `repeated`: the role follows from the computed role, and its lookup repeats too many calls
	 */
	readonly reason: 'circular' | 'walked' | 'repeated';
}

/** Returns the problems around computed roles with derived roles. */
export function computedLinkProblems(schema: Schema): readonly ComputedLinkProblem[] {
	const computed = computedRoles(schema).map(({ target }) => target);
	const names = new Set(computed.map(roleName));
	const edges = derivationEdges(schema);
	if (!edges.some(({ source }) => names.has(roleName(source)))) return [];
	const components = stronglyConnectedComponents(roleLinks(schema));
	const componentOf = (role: RoleName) => components.get(roleName(role));
	const around = new Set(
		edges
			.filter(({ target, source }) => componentOf(target) === componentOf(source))
			.map(({ target }) => componentOf(target)),
	);
	const circular = computed.filter((role) => around.has(componentOf(role)));
	if (circular.length > 0) return circular.map((role) => ({ role, reason: 'circular' }));
	const graph = derivationGraph(schema);
	const walked = graph.cycles
		.filter(({ conditional }) => conditional)
		.flatMap(({ members }) => members.filter((member) => graph.isAskedAmong(member)));
	return [
		...walked.map((role) => ({ role, reason: 'walked' as const })),
		...findRepeating(graph, schema).map((role) => ({ role, reason: 'repeated' as const })),
	];
}

/** Returns a problem in words. `name` is the role's name, in backquotes. */
export function computedLinkMessage(reason: ComputedLinkProblem['reason'], name: string): string {
	switch (reason) {
		case 'circular':
			return `${name} would be derived from itself through a computed role`;
		case 'walked':
			return (
				`a computed role with derived roles depends on ${name}, which is in a cycle of derivations with ` +
				'`no_direct_roles_on_object` or with conditional relationships; this is not supported'
			);
		case 'repeated':
			return `${name} depends on a computed role, and a check of ${name} would look up the same roles too many times`;
	}
}

/** Returns all findings about computed roles with derived roles. */
export function checkComputedLinks(schema: Schema): readonly Diagnostic[] {
	return computedLinkProblems(schema).map(({ role, reason }) =>
		finding(
			'misplaced_computed_role',
			['resources', role.type, 'roles', role.role, reason === 'circular' ? 'computed' : 'derivations'],
			computedLinkMessage(reason, tick(roleText(role))),
		),
	);
}
