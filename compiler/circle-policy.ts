/**
 * A circle of derivations that what is assigned on an object can interrupt, as Rego: which way leads where depends on
 * the user, so it is walked when it is asked, with the set of what was seen.
 */
import { type Circle, type Edge, edgesOf, leavingEdges, mostLeading, type RoleName } from './circle.js';
import { metadata } from './metadata.js';
import type { RegoFile, Schema } from './model.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, list, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { assignedOn, circlePackage, nothingAssignedOn, rolePackage } from './role-reference.js';

/**
 * The package of a circle. Nodes are `[type, role, instance]`. `reached` takes a set of nodes and adds all that lead to
 * them; Rego has no recursion, so it goes one step, twice, four times and so on, and stops where nothing is added.
 */
export function writeCircle(schema: Schema, circle: Circle): RegoFile {
	const [first = { type: '', role: '' }] = circle.members;
	return regoFile(`regolith/circles/${folderOf(first.type)}/${folderOf(first.role)}/reached.rego`, [
		rego`package ${circlePackage(circle)}`,
		...givenBodies(schema, circle),
		oneStep(circle),
		...circle.edges.map(edgeStep),
		...ladder(circle),
	]);
}

/** Whether a node of the set is held without the circle: assigned there, or derived from outside. */
function givenBodies(schema: Schema, circle: Circle): readonly Fragment[] {
	const edges = edgesOf(schema);
	return circle.members.flatMap((member) => [
		given(`Assigned: ${member.type}#${member.role}`, member, assignedOn(rego`object`, member)),
		...(leavingEdges(edges, member, circle).length === 0
			? []
			: [
					given(
						`Derived from outside of the circle: ${member.type}#${member.role}`,
						member,
						rego`data.${rolePackage(member)}.derived(user, object)`,
					),
				]),
	]);
}

function given(title: string, { type, role }: RoleName, condition: Fragment): Fragment {
	return lines([
		metadata({ title }),
		rego`given(user, nodes) if {`,
		rego`	some [${type}, ${role}, object] in nodes`,
		rego`	${condition}`,
		rego`}`,
	]);
}

function oneStep({ edges }: Circle): Fragment {
	const steps = edges.map((_, index) => rego`step_${index + 1}(user, nodes)`);
	return lines([
		metadata({ title: 'The nodes, and those that lead to them directly' }),
		rego`reached_1(user, nodes) := union({nodes, ${list(steps)}})`,
	]);
}

function edgeStep(edge: Edge, index: number): Fragment {
	const { target, source, relation } = edge;
	const user = edge.no_direct_roles_on_object ? rego`user` : rego`_`;
	return lines([
		metadata({ title: `${target.type}#${target.role} is derived from ${nameText(source)} by ${relation}` }),
		rego`step_${index + 1}(${user}, nodes) := {[${source.type}, ${source.role}, subject] |`,
		rego`	some [${target.type}, ${target.role}, object] in nodes`,
		...(edge.no_direct_roles_on_object ? [rego`	${nothingAssignedOn(rego`object`, target.type)}`] : []),
		rego`	some subject, _ in data.regolith.facts.relations[object]${packagePart(relation)}`,
		rego`}`,
	]);
}

/** Twice as far each time, until it is as far as a circle may lead. */
function ladder({ members }: Circle): readonly Fragment[] {
	const top = metadata({
		title: 'A circle of derivations',
		description: `Between ${members.map(nameText).join(', ')}`,
	});
	const rungs: Fragment[] = [];
	let steps = 1;
	while (steps < mostLeading) {
		const last = steps * 2 >= mostLeading;
		const name = last ? rego`reached` : rego`reached_${steps * 2}`;
		rungs.push(
			lines([
				...(last ? [top] : []),
				rego`${name}(user, nodes) := further if {`,
				rego`	near := reached_${steps}(user, nodes)`,
				rego`	near != nodes`,
				rego`	further := reached_${steps}(user, near)`,
				rego`} else := nodes`,
			]),
		);
		steps *= 2;
	}
	return rungs;
}

function nameText({ type, role }: RoleName): string {
	return `${type}#${role}`;
}
