/**
 * Rego for a derivation cycle with edges that depend on the check: an assignment on an object can block them, or their
 * relationships are conditional. Each check walks the cycle, with a set of visited nodes.
 */
import { type Cycle, type DerivationGraph, maxWalked, roleName, roleText } from '../cycle.js';
import type { Walks } from '../data/walk.js';
import type { RegoFile } from '../model.js';
import { keyFolder } from '../rego/path.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { metadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { cyclePackage, rolePackage } from './role-reference.js';
import { stepThrough, united } from './step-policy.js';
import { given } from './walk-policy.js';

/**
 * Writes the package of a cycle. `reached` takes nodes, as a map from roles to instances, and adds all their
 * sources. Rego has no recursion, so `walk_1` takes one step, `walk_2` takes two steps, and the length doubles each
 * time. A walk ends if a step finds nothing new. A walk returns `[found, last]`: all found nodes, and the nodes at
 * which the next walk starts. `seen` lists the results of earlier walks, at most one per walk length. Nodes in these
 * results are not found again, so each node is expanded once.
 */
export function writeCycle(graph: DerivationGraph, walks: Walks, cycle: Cycle): RegoFile {
	const [first = { type: '', role: '' }] = cycle.members;
	return regoFile(`regolith/cycles/${keyFolder(first.type)}/${keyFolder(first.role)}/reached.rego`, [
		rego`package ${cyclePackage(cycle)}`,
		...(cycle.members.some((member) => walks.walkTo(member) !== undefined) ? [] : givenBodies(graph, cycle)),
		oneStep(cycle),
		...cycle.edges.map((edge, index) => stepThrough(rego`step_${index + 1}`, edge)),
		...ladder(cycle),
	]);
}

/**
 * Writes the test for whether the user holds a node without following the cycle: by assignment, or by derivation from
 * outside the cycle. Not needed if a walk includes the cycle, because the walk has its own test.
 */
function givenBodies(graph: DerivationGraph, cycle: Cycle): readonly Fragment[] {
	return cycle.members.flatMap((member) => [
		...given(graph, member),
		...(graph.leaving(member).length === 0
			? []
			: [
					lines([
						metadata({ title: `Derived from outside the cycle: ${roleText(member)}` }),
						rego`given(user, nodes) if data.${rolePackage(member)}.derived_on_any(user, nodes[${roleText(member)}])`,
					]),
				]),
	]);
}

function oneStep({ members, edges }: Cycle): Fragment {
	const found = members.map((member) => {
		const steps = edges.flatMap(({ target, source }, index) =>
			roleName(source) === roleName(member)
				? [rego`step_${index + 1}(user, object.get(nodes, ${roleText(target)}, set()))`]
				: [],
		);
		return rego`		${roleText(member)}: ${united(steps, '\t\t')},`;
	});
	return lines([
		metadata({ title: 'New nodes that lead directly to the nodes' }),
		rego`walk_1(user, seen, nodes) := [found, found] if {`,
		rego`	steps := {`,
		...found,
		rego`	}`,
		rego`	found := data.regolith.rebac.unseen(steps, seen)`,
		rego`}`,
	]);
}

/** Writes walks of doubling length, until the longest walk covers the largest permitted cycle. */
function ladder({ members }: Cycle): readonly Fragment[] {
	const rungs: Fragment[] = [];
	let steps = 1;
	for (; steps < maxWalked; steps *= 2) {
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
			metadata({ title: 'Derivation cycle', description: `Roles: ${members.map(roleText).join(', ')}` }),
			rego`reached(user, nodes) := data.regolith.rebac.together(nodes, walk_${steps}(user, [nodes], nodes)[0])`,
		]),
	];
}
