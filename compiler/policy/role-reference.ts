/** References from generated Rego to roles, cycles and assignments. */

import type { Cycle, Edge, RoleName } from '../cycle.js';
import { closureName } from '../data/closure.js';
import type { Walk } from '../data/walk.js';
import { packagePart } from '../rego/path.js';
import { type Fragment, rego } from '../rego/rego.js';
import { edgeName } from './standing.js';

/** Returns the package for a role's functions, without `data.`. */
export function rolePackage({ type, role }: RoleName): Fragment {
	return rego`regolith.roles${packagePart(type)}${packagePart(role)}`;
}

/**
 * Writes the condition that a role is assigned to `user`, given as the user's assignments, on the instance in a
 * variable.
 */
export function assignedOn(instance: Fragment, { type, role }: RoleName): Fragment {
	return live(rego`user${packagePart(type)}${packagePart(role)}[${instance}]`);
}

/** Writes the condition that a fact still holds, given its table entry: null or its expiry. */
export function live(until: Fragment): Fragment {
	return rego`data.regolith.expiry.live(${until})`;
}

/**
 * Writes the condition that no role at all is assigned to `user` on the instance in a variable, whose type is given.
 */
export function nothingAssignedOn(instance: Fragment, type: string): Fragment {
	return rego`not data.regolith.rebac.assigned(user, ${type}, ${instance})`;
}

/**
 * Writes the condition that a derivation may decide: a newer schema, whose policy is not active yet, may have removed
 * it.
 */
export function notSuspended(edge: Edge): Fragment {
	const { type, role } = edge.target;
	return rego`not data.regolith.pending.derivations${packagePart(type)}${packagePart(role)}[${edgeName(edge)}]`;
}

/** Returns the instances, as a table, on which the role `source` leads to a role on the instance `object`. */
export function closureReference({ role }: RoleName, source: RoleName): Fragment {
	return rego`data.regolith.facts.closures[object][${closureName(role, source)}]`;
}

/** Returns the package for a cycle's functions, without `data.`. Its name is the cycle's first member. */
export function cyclePackage({ members: [first] }: Cycle): Fragment {
	return first === undefined ? rego`` : rego`regolith.cycles${packagePart(first.type)}${packagePart(first.role)}`;
}

/** Returns the package for a walk's functions, without `data.`. Its name is the walk's first role. */
export function walkPackage({ first }: Pick<Walk, 'first'>): Fragment {
	return rego`regolith.walks${packagePart(first.type)}${packagePart(first.role)}`;
}
