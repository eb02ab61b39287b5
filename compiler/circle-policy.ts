/**
 * A circle of derivations that what is assigned on an object can interrupt, as Rego: which way leads where depends on
 * the user, so it is walked when it is asked, with the set of what was seen.
 */
import { type Circle, type DerivationGraph, mostWalked, nameOf, type RoleName, roleText } from './circle.js';
import { metadata } from './metadata.js';
import type { RegoFile } from './model.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { circlePackage, rolePackage } from './role-reference.js';
import { stepThrough, united } from './step-policy.js';
import type { Walks } from './walk.js';

/**
 * The package of a circle. `reached` takes nodes, kind of role to instances, and adds all that lead to them. Rego has no
 * recursion, so `walk_1` goes one step, `walk_2` two, and so on, twice as far each time, and it ends where a step finds
 * nothing new. A walk gives `[found, last]`: all that it found, and where the next one starts. `seen` is a list of
 * earlier finds, one for each length of walk at most; what is in them is not found again, so that each node is gone on
 * from once.
 */
export function writeCircle(graph: DerivationGraph, walks: Walks, circle: Circle): RegoFile {
	const [first = { type: '', role: '' }] = circle.members;
	return regoFile(`regolith/circles/${folderOf(first.type)}/${folderOf(first.role)}/reached.rego`, [
		rego`package ${circlePackage(circle)}`,
		...(circle.members.some((member) => walks.of(member) !== undefined) ? [] : givenBodies(graph, circle)),
		oneStep(circle),
		...circle.edges.map((edge, index) => stepThrough(rego`step_${index + 1}`, edge)),
		...ladder(circle),
	]);
}

/** Whether a node is held without the circle: assigned there, or derived from outside. A walk that it is part of says. */
function givenBodies(graph: DerivationGraph, circle: Circle): readonly Fragment[] {
	return circle.members.flatMap((member) => [
		given(
			`Assigned: ${roleText(member)}`,
			rego`data.regolith.rebac.meet(user${packagePart(member.type)}${packagePart(member.role)}, ${nodesOf(member)})`,
		),
		...(graph.leaving(member).length === 0
			? []
			: [
					given(
						`Derived from outside of the circle: ${roleText(member)}`,
						rego`data.${rolePackage(member)}.derived_on_any(user, ${nodesOf(member)})`,
					),
				]),
	]);
}

function nodesOf(member: RoleName): Fragment {
	return rego`nodes[${roleText(member)}]`;
}

function given(title: string, condition: Fragment): Fragment {
	return lines([metadata({ title }), rego`given(user, nodes) if ${condition}`]);
}

function oneStep({ members, edges }: Circle): Fragment {
	const found = members.map((member) => {
		const steps = edges.flatMap(({ target, source }, index) =>
			nameOf(source) === nameOf(member)
				? [rego`step_${index + 1}(user, object.get(nodes, ${roleText(target)}, set()))`]
				: [],
		);
		return rego`		${roleText(member)}: ${united(steps, '\t\t')},`;
	});
	return lines([
		metadata({ title: 'What leads to the nodes directly and was not seen' }),
		rego`walk_1(user, seen, nodes) := [found, found] if {`,
		rego`	steps := {`,
		...found,
		rego`	}`,
		rego`	found := data.regolith.rebac.unseen(steps, seen)`,
		rego`}`,
	]);
}

/** Twice as far each time, until it is as far as a circle may lead. */
function ladder({ members }: Circle): readonly Fragment[] {
	const rungs: Fragment[] = [];
	let steps = 1;
	for (; steps < mostWalked; steps *= 2) {
		rungs.push(
			rego`walk_${steps * 2}(user, seen, nodes) := further_${steps}(user, seen, walk_${steps}(user, seen, nodes))`,
			lines([
				rego`further_${steps}(user, seen, near) := near if {`,
				rego`	count(near[1]) == 0`,
				rego`} else := [data.regolith.rebac.together(near[0], far[0]), far[1]] if {`,
				rego`	far := walk_${steps}(user, array.concat(seen, [near[0]]), near[1])`,
				rego`}`,
			]),
		);
	}
	return [
		...rungs,
		lines([
			metadata({ title: 'A circle of derivations', description: `Between ${members.map(roleText).join(', ')}` }),
			rego`reached(user, nodes) := data.regolith.rebac.together(nodes, walk_${steps}(user, [nodes], nodes)[0])`,
		]),
	];
}
