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
 * Returns a reference to the table of instances on which the role is assigned to the user. The Rego variable `user`
 * contains the user's assignments.
 */
export function assignedTable({ type, role }: RoleName): Fragment {
	return rego`user${packagePart(type)}${packagePart(role)}`;
}

/**
 * Writes the condition that the role is assigned to everyone on the instance in a variable. The table of these
 * instances may be large, so it is never passed to a function: a stock OPA would convert the whole table.
 */
export function publicOn(instance: Fragment, { type, role }: RoleName): Fragment {
	return live(rego`data.regolith.facts.public_roles${packagePart(type)}${packagePart(role)}[${instance}]`);
}

/** Writes the condition that a fact has not expired. `until` is the fact's table entry: null or the expiry. */
export function live(until: Fragment): Fragment {
	return rego`data.regolith.expiry.live(${until})`;
}

/** Returns the package for a declaring relation's functions, without `data.`. */
export function relationPackage(type: string, relation: string): Fragment {
	return rego`regolith.conditional_relations${packagePart(type)}${packagePart(relation)}`;
}

/** Returns a reference to the table of the instance `object`'s unconditional subjects. */
export function subjectTable(relation: string): Fragment {
	return rego`data.regolith.facts.relations[object]${packagePart(relation)}`;
}

/** Returns a reference to the table of the instance `object`'s conditional subjects. */
export function conditionalSubjectTable(relation: string): Fragment {
	return rego`data.regolith.facts.conditional_relations[object]${packagePart(relation)}`;
}

/**
 * Writes the condition that the user has no role assigned on an instance of the type `type`. `instance` is the Rego
 * variable with the instance; the Rego variable `user` contains the user's assignments.
 */
export function nothingAssignedOn(instance: Fragment, type: string): Fragment {
	return rego`not data.regolith.rebac.assigned(user, ${type}, ${instance})`;
}

/**
 * Writes the condition that a derivation is not suspended. It is suspended if a newer schema, whose policy is not
 * active yet, has removed or narrowed it.
 */
export function notSuspended(edge: Edge): Fragment {
	const { type, role } = edge.target;
	return rego`not data.regolith.pending.derivations${packagePart(type)}${packagePart(role)}[${edgeName(edge)}]`;
}

/**
 * Returns a reference to the table of instances on which the role `source` leads to a role on the instance `object`.
 */
export function closureReference({ role }: RoleName, source: RoleName): Fragment {
	return rego`data.regolith.facts.closures[object][${closureName(role, source)}]`;
}

/**
 * Returns the package for a cycle's functions, without `data.`. The package is named after the cycle's first member.
 */
export function cyclePackage({ members: [first] }: Cycle): Fragment {
	return first === undefined ? rego`` : rego`regolith.cycles${packagePart(first.type)}${packagePart(first.role)}`;
}

/** Returns the package for a walk's functions, without `data.`. The package is named after the walk's first role. */
export function walkPackage({ first }: Pick<Walk, 'first'>): Fragment {
	return rego`regolith.walks${packagePart(first.type)}${packagePart(first.role)}`;
}
