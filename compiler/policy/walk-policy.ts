/** Rego for walks, which find each source of a role once. */

import {
	type Cycle,
	type DerivationGraph,
	dependsOnCheck,
	type Edge,
	type RoleName,
	roleName,
	roleText,
	waysIntoCycle,
} from '../cycle.js';
import { closureName } from '../data/closure.js';
import type { Component, Walk } from '../data/walk.js';
import type { RegoFile } from '../model.js';
import { keyFolder } from '../rego/path.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { table } from '../rego/table.js';
import { assignedUnderConditionsAmong } from './grant-condition-policy.js';
import { metadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { assignedTable, cyclePackage, publicOn, walkPackage } from './role-reference.js';
import { stepThrough, united } from './step-policy.js';

/**
 * Writes the package of a walk. `reached(user, start)` takes nodes, as a map from roles to instances, and adds all
 * their sources. It visits each role after all roles derived from it. The sources of an instance are therefore looked
 * up once, however many paths contain the instance. `given(user, nodes)` is true if the user holds any of the nodes by
 * an assignment.
 */
export function writeWalk(graph: DerivationGraph, walk: Walk): RegoFile {
	const { first, components } = walk;
	const steps = new Steps(graph, walk);
	for (const component of components) steps.go(component);
	return regoFile(`regolith/walks/${keyFolder(first.type)}/${keyFolder(first.role)}/reached.rego`, [
		rego`package ${walkPackage(walk)}`,
		...steps.written(),
		...components.flatMap(({ members }) => members.flatMap((member) => given(graph, member))),
	]);
}

/**
 * Writes the bodies for a role's assignments on the nodes: to the user, with or without a condition, and to everyone.
 */
export function given(graph: DerivationGraph, member: RoleName): readonly Fragment[] {
	const nodes = rego`nodes[${roleText(member)}]`;
	return [
		lines([
			metadata({ title: `Assigned: ${roleText(member)}` }),
			rego`given(user, nodes) if data.regolith.rebac.meet(${assignedTable(member)}, ${nodes})`,
		]),
		...(graph.isPublic(member)
			? [
					lines([
						metadata({ title: `Assigned to everyone: ${roleText(member)}` }),
						rego`given(_, nodes) if {`,
						rego`	some object in ${nodes}`,
						rego`	${publicOn(rego`object`, member)}`,
						rego`}`,
					]),
				]
			: []),
		...assignedUnderConditionsAmong(graph, rego`given(_, nodes)`, member, nodes),
	];
}

/**
 * The lines of `reached`, which lead from the requested nodes to their sources, and the functions called in these
 * lines.
 */
class Steps {
	readonly #graph: DerivationGraph;
	readonly #walk: Walk;
	readonly #lines: Fragment[] = [];
	readonly #functions: Fragment[] = [];
	/** Sets of instances found by earlier lines, keyed by role name. */
	readonly #found = new Map<string, Fragment[]>();
	readonly #nodes: Instances[] = [];
	#variables = 0;
	#asksUser = false;

	constructor(graph: DerivationGraph, walk: Walk) {
		this.#graph = graph;
		this.#walk = walk;
	}

	go({ members, cycle }: Component): void {
		const entered = members.flatMap((member): readonly Instances[] => {
			const instances = this.#entering(member);
			return instances.length === 0 ? [] : [[member, this.#let(united(instances, '\t'), member)]];
		});
		for (const [member, instances] of this.#around(entered, members, cycle)) {
			this.#nodes.push([member, instances]);
			for (const edge of this.#graph.leaving(member)) {
				if (cycle?.conditional !== false || dependsOnCheck(edge)) this.#follow(edge, instances);
			}
		}
	}

	written(): readonly Fragment[] {
		return [
			lines([
				metadata({ title: 'Roles on instances and all roles that lead to them' }),
				rego`reached(${this.#asksUser ? rego`user` : rego`_`}, start) := nodes if {`,
				...this.#lines,
				rego`	nodes := {`,
				...this.#nodes.map(([member, instances]) => rego`		${roleText(member)}: ${instances},`),
				rego`	}`,
				rego`}`,
			]),
			...this.#functions,
		];
	}

	/** Declares a variable for a set of instances, below a comment with the role's name. */
	#let(instances: Fragment, role: RoleName): Fragment {
		this.#variables += 1;
		const variable = rego`instances_${this.#variables}`;
		const heading = rego`	# ${roleText(role)}`;
		this.#lines.push(...(this.#lines.length === 0 ? [] : [rego``]), heading, rego`	${variable} := ${instances}`);
		return variable;
	}

	#find(role: RoleName, instances: Fragment): void {
		const found = this.#found.get(roleName(role)) ?? [];
		this.#found.set(roleName(role), found);
		found.push(instances);
	}

	/** Returns the instance sets at which the walk arrives at a role. */
	#entering(role: RoleName): readonly Fragment[] {
		const asked = this.#walk.starts.has(roleName(role)) ? [rego`object.get(start, ${roleText(role)}, set())`] : [];
		return [...asked, ...(this.#found.get(roleName(role)) ?? [])];
	}

	/** Returns these instances and all their sources within the same component. */
	#around(entered: readonly Instances[], members: readonly RoleName[], cycle: Cycle | undefined): readonly Instances[] {
		if (cycle === undefined) return entered;
		return cycle.conditional ? this.#byWalk(entered, cycle) : this.#byClosures(entered, members);
	}

	#follow(edge: Edge, instances: Fragment): void {
		this.#asksUser = true;
		const step = rego`step_${this.#functions.length + 1}`;
		this.#functions.push(stepThrough(step, edge));
		this.#find(edge.source, rego`${step}(user, ${instances})`);
	}

	/** Implements `#around` with closures. Closures also contain sources from outside the cycle. */
	#byClosures(entered: readonly Instances[], members: readonly RoleName[]): readonly Instances[] {
		for (const source of waysIntoCycle(this.#graph, members).outside) {
			for (const [member, instances] of entered) this.#find(source, leading(instances, member, source));
		}
		return members.map((member) => {
			const own = entered.filter(([role]) => role === member).map(([, instances]) => instances);
			const around = entered.map(([role, instances]) => leading(instances, role, member));
			return [member, this.#let(united([...own, ...around], '\t'), member)];
		});
	}

	#byWalk(entered: readonly Instances[], cycle: Cycle): readonly Instances[] {
		this.#asksUser = true;
		const [first = { type: '', role: '' }] = cycle.members;
		const start = table({ members: entered.map(([member, instances]) => [roleText(member), instances]) }, '\t');
		const reached = this.#let(rego`data.${cyclePackage(cycle)}.reached(user, ${start})`, first);
		return cycle.members.map((member) => [
			member,
			this.#let(rego`object.get(${reached}, ${roleText(member)}, set())`, member),
		]);
	}
}

/** A role, and a variable for a set of instances. */
type Instances = readonly [role: RoleName, instances: Fragment];

function leading(instances: Fragment, member: RoleName, source: RoleName): Fragment {
	return rego`data.regolith.rebac.all_leading(${instances}, ${closureName(member.role, source)})`;
}
