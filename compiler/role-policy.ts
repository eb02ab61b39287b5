/** A role of a resource type as Rego: who holds it, one function body for each way. */
import { type Circle, type Edge, edgesOf, nameOf, type RoleName } from './circle.js';
import { metadata, objectMetadata } from './metadata.js';
import type { RegoFile, Resource, ResourceRole, Schema } from './model.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { assignedOn, circlePackage, leavingEdges, nothingAssignedOn, rolePackage } from './role-reference.js';

/**
 * The package of a role: `held(user, object)` says whether the user holds it on the instance, assigned or derived.
 * In a circle, `derived(user, object)` says so for the derivations that lead out of it, and `held` asks that of
 * everything that the circle leads to.
 */
export function writeRole(
	schema: Schema,
	circles: readonly Circle[],
	resource: Resource,
	role: ResourceRole,
): RegoFile {
	const name = { type: resource.key, role: role.key };
	const edges = edgesOf(schema);
	const circle = circleOf(circles, name);
	const own = leavingEdges(edges, name, circle);
	return regoFile(`regolith/roles/${folderOf(resource.key)}/${folderOf(role.key)}/held.rego`, [
		rego`package ${rolePackage(name)}`,
		lines([objectMetadata(rego`role`, role), rego`#   resource: ${resource.key}`, rego`# scope: document`]),
		...(circle?.conditional ? walked(circle, name) : [assigned(name)]),
		...(circle === undefined ? own.map((edge) => derivation(rego`held`, edge)) : []),
		...(circle === undefined || circle.conditional ? [] : closed(edges, circle, name, own)),
		...(circle === undefined ? [] : own.map((edge) => derivation(rego`derived`, edge))),
	]);
}

/** The circle that a role is in, if any. */
function circleOf(circles: readonly Circle[], name: RoleName): Circle | undefined {
	return circles.find(({ members }) => members.some((member) => nameOf(member) === nameOf(name)));
}

function assigned(name: RoleName): Fragment {
	return lines([
		metadata({ title: 'Assigned on the instance' }),
		rego`held(user, object) if ${assignedOn(rego`object`, name)}`,
	]);
}

/** A derivation as one body of the function that is called `head`. */
function derivation(head: Fragment, edge: Edge): Fragment {
	return lines([
		metadata({
			title: titleOf(edge),
			custom: [[rego`relation`, edge.relation]],
		}),
		rego`#   kind: role_derivation`,
		rego`${head}(user, object) if {`,
		...(edge.no_direct_roles_on_object ? [rego`	${nothingAssignedOn(rego`object`)}`] : []),
		rego`	some subject, _ in data.regolith.facts.relations[object]${packagePart(edge.relation)}`,
		rego`	data.${rolePackage(edge.source)}.held(user, subject)`,
		rego`}`,
	]);
}

function titleOf({ relation, source, no_direct_roles_on_object }: Edge): string {
	const rule = `Derived from ${source.type}#${source.role} by ${relation}`;
	return no_direct_roles_on_object ? `${rule}, unless a role is assigned on the instance` : rule;
}

/** Through a closure. It is looked through from its smaller side: itself, or what the user holds. */
function closed(edges: readonly Edge[], circle: Circle, name: RoleName, own: readonly Edge[]): readonly Fragment[] {
	const around = circle.members.flatMap((member) => {
		const sources = rego`data.regolith.facts.closures[object]${packagePart(name.role)}${packagePart(member.type)}${packagePart(member.role)}`;
		const held = rego`data.regolith.facts.user_roles[user]${packagePart(member.type)}${packagePart(member.role)}`;
		const assignedThere = lines([
			metadata({ title: `Derived in a circle from an assigned ${member.type}#${member.role}` }),
			rego`held(user, object) if data.regolith.rebac.meet(${sources}, ${held})`,
		]);
		if (leavingEdges(edges, member, circle).length === 0) {
			return [assignedThere];
		}
		return [
			assignedThere,
			lines([
				metadata({ title: `Derived in a circle from a derived ${member.type}#${member.role}` }),
				rego`held(user, object) if {`,
				rego`	some subject, _ in ${sources}`,
				rego`	data.${rolePackage(member)}.derived(user, subject)`,
				rego`}`,
			]),
		];
	});
	const here = lines([
		metadata({ title: 'Derived from outside of the circle' }),
		rego`held(user, object) if derived(user, object)`,
	]);
	return own.length === 0 ? around : [here, ...around];
}

/** By walking the circle: whether it leads on depends on what is assigned to the user. */
function walked(circle: Circle, { type, role }: RoleName): readonly Fragment[] {
	const path = rego`data.${circlePackage(circle)}`;
	return [
		lines([
			metadata({ title: 'Assigned or derived, at any distance in a circle' }),
			rego`held(user, object) if {`,
			rego`	reached := ${path}.reached(user, {[${type}, ${role}, object]})`,
			rego`	${path}.given(user, reached)`,
			rego`}`,
		]),
	];
}
