/** How generated Rego refers to roles, to circles and to what is assigned. */
import { type Circle, type Edge, nameOf, type RoleName } from './circle.js';
import { packagePart } from './rego/path.js';
import { type Fragment, rego } from './rego/rego.js';

/** The derivations of a role that lead out of its circle; without one, all of them. */
export function leavingEdges(edges: readonly Edge[], name: RoleName, circle: Circle | undefined): readonly Edge[] {
	const inside = new Set(circle?.members.map(nameOf));
	return edges.filter(({ target, source }) => nameOf(target) === nameOf(name) && !inside.has(nameOf(source)));
}

/** Where a role's functions are, without `data.`. */
export function rolePackage({ type, role }: RoleName): Fragment {
	return rego`regolith.roles${packagePart(type)}${packagePart(role)}`;
}

/** Whether a role is assigned to `user` on the instance that a variable holds. */
export function assignedOn(instance: Fragment, { role }: RoleName): Fragment {
	return rego`data.regolith.facts.instance_roles[${instance}][user]${packagePart(role)} == null`;
}

/** Whether no role at all is assigned to `user` on the instance that a variable holds. */
export function nothingAssignedOn(instance: Fragment): Fragment {
	return rego`not data.regolith.facts.instance_roles[${instance}][user]`;
}

/** Where a circle's functions are, without `data.`: it is called after its first member. */
export function circlePackage({ members: [first] }: Circle): Fragment {
	return first === undefined ? rego`` : rego`regolith.circles${packagePart(first.type)}${packagePart(first.role)}`;
}
