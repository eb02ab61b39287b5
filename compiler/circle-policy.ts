/**
 * A circle of derivations that what is assigned on an object can interrupt, as Rego: which way leads where depends on
 * the user, so it is walked when it is asked, with the set of what was seen.
 */
import { type Circle, type DerivationGraph, type Edge, mostWalked, type RoleName, roleText } from './circle.js';
import { metadata } from './metadata.js';
import type { RegoFile } from './model.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, list, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { assignedOn, circlePackage, nothingAssignedOn, notSuspended, rolePackage } from './role-reference.js';

/** How many steps are made before what they found joins what was seen: joining costs what was seen. */
const stride = 64;

/**
 * The package of a circle. Nodes are `[type, role, instance]`. `reached` takes a set of nodes and adds all that lead to
 * them. Rego has no recursion, so `walk_1` goes one step, `walk_2` two, and so on, twice as far each time, and it ends
 * where a step finds nothing new. A walk gives `[found, last]`: all that it found, and where the next one starts. What
 * was `seen` before is not found again; within a stride it may be, which costs less than to remember it at each step.
 */
export function writeCircle(graph: DerivationGraph, circle: Circle): RegoFile {
	const [first = { type: '', role: '' }] = circle.members;
	return regoFile(`regolith/circles/${folderOf(first.type)}/${folderOf(first.role)}/reached.rego`, [
		rego`package ${circlePackage(circle)}`,
		...givenBodies(graph, circle),
		oneStep(circle),
		...circle.edges.map(edgeStep),
		...ladder(circle),
	]);
}

/** Whether a node of the set is held without the circle: assigned there, or derived from outside. */
function givenBodies(graph: DerivationGraph, circle: Circle): readonly Fragment[] {
	return circle.members.flatMap((member) => [
		given(`Assigned: ${roleText(member)}`, member, assignedOn(rego`object`, member)),
		...(graph.leaving(member).length === 0
			? []
			: [
					given(
						`Derived from outside of the circle: ${roleText(member)}`,
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
		metadata({ title: 'What leads to the nodes directly and was not seen' }),
		rego`walk_1(user, seen, nodes) := [found, found] if {`,
		rego`	found := union({${list(steps)}}) - seen`,
		rego`}`,
	]);
}

function edgeStep(edge: Edge, index: number): Fragment {
	const { target, source, relation } = edge;
	const user = edge.no_direct_roles_on_object ? rego`user` : rego`_`;
	return lines([
		metadata({ title: `${roleText(target)} is derived from ${roleText(source)} by ${relation}` }),
		rego`step_${index + 1}(${user}, nodes) := {[${source.type}, ${source.role}, subject] |`,
		rego`	some [${target.type}, ${target.role}, object] in nodes`,
		...(edge.no_direct_roles_on_object ? [rego`	${nothingAssignedOn(rego`object`, target.type)}`] : []),
		rego`	${notSuspended(edge)}`,
		rego`	some subject, _ in data.regolith.facts.relations[object]${packagePart(relation)}`,
		rego`}`,
	]);
}

/** Twice as far each time, until it is as far as a circle may lead. */
function ladder({ members }: Circle): readonly Fragment[] {
	const rungs: Fragment[] = [];
	let steps = 1;
	for (; steps < mostWalked; steps *= 2) {
		const seen = steps < stride ? rego`seen` : rego`union({seen, near[0]})`;
		rungs.push(
			rego`walk_${steps * 2}(user, seen, nodes) := further_${steps}(user, seen, walk_${steps}(user, seen, nodes))`,
			lines([
				rego`further_${steps}(user, seen, near) := near if {`,
				rego`	count(near[1]) == 0`,
				rego`} else := together(near, walk_${steps}(user, ${seen}, near[1]))`,
			]),
		);
	}
	return [
		...rungs,
		lines([
			metadata({ title: 'Two walks, one after the other' }),
			rego`together(near, far) := [union({near[0], far[0]}), far[1] - near[0]]`,
		]),
		lines([
			metadata({ title: 'A circle of derivations', description: `Between ${members.map(roleText).join(', ')}` }),
			rego`reached(user, nodes) := union({nodes, walk_${steps}(user, nodes, nodes)[0]})`,
		]),
	];
}
