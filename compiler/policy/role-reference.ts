/** How generated Rego refers to roles, to cycles and to what is assigned. */

import type { Cycle, Edge, RoleName } from '../cycle.js';
import { closureName } from '../data/closure.js';
import type { Walk } from '../data/walk.js';
import { packagePart } from '../rego/path.js';
import { type Fragment, rego } from '../rego/rego.js';
import { edgeName } from './standing.js';

/** Where a role's functions are, without `data.`. */
export function rolePackage({ type, role }: RoleName): Fragment {
	return rego`regolith.roles${packagePart(type)}${packagePart(role)}`;
}

/** Whether a role is assigned to `user`, given as what a user holds, on the instance that a variable names. */
export function assignedOn(instance: Fragment, { type, role }: RoleName): Fragment {
	return live(rego`user${packagePart(type)}${packagePart(role)}[${instance}]`);
}

/** Whether a fact still holds, given what its table says of it: null or its expiry. */
export function live(until: Fragment): Fragment {
	return rego`data.regolith.expiry.live(${until})`;
}

/** Whether no role at all is assigned to `user` on the instance of a type that a variable names. */
export function nothingAssignedOn(instance: Fragment, type: string): Fragment {
	return rego`not data.regolith.rebac.assigned(user, ${type}, ${instance})`;
}

/** Whether a derivation may decide: a newer schema, whose policy is not in force yet, may have taken it away. */
export function notSuspended(edge: Edge): Fragment {
	const { type, role } = edge.target;
	return rego`not data.regolith.pending.derivations${packagePart(type)}${packagePart(role)}[${edgeName(edge)}]`;
}

/** The table of instances on which the role `source` leads to a role on the instance `object`. */
export function closureReference({ role }: RoleName, source: RoleName): Fragment {
	return rego`data.regolith.facts.closures[object][${closureName(role, source)}]`;
}

/** Where a cycle's functions are, without `data.`. It is named after its first member. */
export function cyclePackage({ members: [first] }: Cycle): Fragment {
	return first === undefined ? rego`` : rego`regolith.cycles${packagePart(first.type)}${packagePart(first.role)}`;
}

/** Where a walk's functions are, without `data.`. It is named after its first role. */
export function walkPackage({ first }: Pick<Walk, 'first'>): Fragment {
	return rego`regolith.walks${packagePart(first.type)}${packagePart(first.role)}`;
}
