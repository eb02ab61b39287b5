/** Rego for a resource role, with a function body for each way to hold it. */

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
import type { Walks } from '../data/walk.js';
import type { RegoFile, Resource, ResourceRole } from '../model.js';
import { keyFolder } from '../rego/path.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { roleFormula } from '../role-expression.js';
import { writeAmong, writeComputedAmong } from './among-policy.js';
import { writeComputed } from './computed-policy.js';
import { assignedUnderConditions, assignedUnderConditionsAmong } from './grant-condition-policy.js';
import { metadata, objectMetadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import {
	assignedTable,
	closureReference,
	conditionalSubjectTable,
	cyclePackage,
	live,
	notSuspended,
	publicOn,
	relationPackage,
	rolePackage,
	subjectTable,
	walkPackage,
} from './role-reference.js';
import { conditionsOn, derivationTitle, eachObject, relatedSubjects, subjectsOfObject } from './step-policy.js';

/**
 * Writes the package of a role. `held(user, object)` is true if a user holds the role on the instance, by assignment or
 * derivation; `user` is the user's assignment table. If other roles are derived from the role, and users can hold it
 * other than by their own unconditional assignment, the package has `held_on_any(user, objects)` instead, for several
 * instances. All source instances are collected first and checked once, so converging paths do not slow down a check.
 * In a cycle, `derived_on_any(user, objects)` does this for derivations from outside the cycle, if closures do not
 * contain them. If a computed role has derived roles, its package and the packages of all roles leading to it also have
 * `held_among` (`among-policy.ts`), because users may hold its operands on different instances.
 *
 * Rego references large tables by full paths, never through variables, because a stock OPA would then convert the whole
 * table in each check.
 */
export function writeRole(graph: DerivationGraph, walks: Walks, resource: Resource, role: ResourceRole): RegoFile {
	const name = { type: resource.key, role: role.key };
	return regoFile(`regolith/roles/${keyFolder(resource.key)}/${keyFolder(role.key)}/held.rego`, [
		rego`package ${rolePackage(name)}`,
		lines([objectMetadata(rego`role`, role), rego`#   resource: ${resource.key}`, rego`# scope: document`]),
		...(role.computed === undefined
			? [...waysToHold(graph, walks, name), ...(graph.isAskedAmong(name) ? writeAmong(graph, name) : [])]
			: [
					...writeComputed(name, role.computed, (operand) =>
						heldOn(graph, walks, { type: resource.key, role: operand }, [rego`user`, rego`object`]),
					),
					...(graph.isAskedAmong(name) ? writeComputedAmong(graph, name, roleFormula(role.computed)) : []),
				]),
	]);
}

function waysToHold(graph: DerivationGraph, walks: Walks, name: RoleName): readonly Fragment[] {
	const walk = walks.walkTo(name);
	if (walk !== undefined) {
		return [
			walked(onOne, 'Assigned or derived, through any of many derivations', rego`data.${walkPackage(walk)}`, name),
		];
	}
	const cycle = graph.cycleContaining(name);
	const own = graph.leaving(name);
	const scope = isAskedOnSeveral(graph, walks, name) ? onEach : onOne;
	if (cycle === undefined) {
		return [...assigned(graph, scope, name), ...own.flatMap((edge) => derivation(graph, scope, edge))];
	}
	if (cycle.conditional) {
		return [
			walked(scope, 'Assigned or derived, at any distance in a cycle', rego`data.${cyclePackage(cycle)}`, name),
			...own.flatMap((edge) => derivation(graph, derivedOnEach, edge)),
		];
	}
	return [
		...assigned(graph, scope, name),
		...closed(graph, cycle, name, scope),
		...own.filter(dependsOnCheck).flatMap((edge) => derivation(graph, derivedOnEach, edge)),
	];
}

/** Writes the condition that a user holds a role on an instance. */
export function heldOn(
	graph: DerivationGraph,
	walks: Walks,
	name: RoleName,
	[user, instance]: readonly [user: Fragment, instance: Fragment],
): Fragment {
	const path = rego`data.${rolePackage(name)}`;
	return isAskedOnSeveral(graph, walks, name)
		? rego`${path}.held_on_any(${user}, {${instance}})`
		: rego`${path}.held(${user}, ${instance})`;
}

/**
 * True if other roles' functions check this role on several instances together, so its package has no function for a
 * single instance. Computed roles have both functions.
 */
function isAskedOnSeveral(graph: DerivationGraph, walks: Walks, name: RoleName): boolean {
	return (
		graph.hasFurtherWays(name) &&
		graph.computed(name) === undefined &&
		graph.leadsOut(name) &&
		walks.walkTo(name) === undefined
	);
}

/** The instances checked in a function body: the single instance `object`, or several instances. */
interface Scope {
	readonly head: Fragment;
	/** The head of a body that does not depend on the user. */
	readonly headForEveryone: Fragment;
	/** Lines for iterating over the instances, if there are several. */
	readonly each: readonly Fragment[];
}

const onOne = scopeOf(rego`held`, rego`object`, []);
const onEach = scopeOf(rego`held_on_any`, rego`objects`, eachObject);
const derivedOnEach = scopeOf(rego`derived_on_any`, rego`objects`, eachObject);

function scopeOf(called: Fragment, instances: Fragment, each: Scope['each']): Scope {
	return {
		head: rego`${called}(user, ${instances})`,
		headForEveryone: rego`${called}(_, ${instances})`,
		each,
	};
}

/** Writes the bodies for assignments: to the user, and to everyone if the role allows that. */
function assigned(graph: DerivationGraph, scope: Scope, name: RoleName): readonly Fragment[] {
	const { head, headForEveryone, each } = scope;
	const table = assignedTable(name);
	const [where, condition] =
		scope === onOne
			? ['on the instance', live(rego`${table}[object]`)]
			: ['on at least one instance', rego`data.regolith.rebac.meet(${table}, objects)`];
	const forEveryone = publicOn(rego`object`, name);
	return [
		lines([metadata({ title: `Assigned ${where}` }), rego`${head} if ${condition}`]),
		...(!graph.isPublic(name)
			? []
			: each.length > 0
				? [body(headForEveryone, `Assigned to everyone ${where}`, [...each, rego`	${forEveryone}`])]
				: [lines([metadata({ title: `Assigned to everyone ${where}` }), rego`${headForEveryone} if ${forEveryone}`])]),
		...(scope === onOne
			? assignedUnderConditions(graph, headForEveryone, name)
			: assignedUnderConditionsAmong(graph, headForEveryone, name, rego`objects`)),
	];
}

/**
 * Writes a derivation as a function body. If the relation declares conditions and the source role can only be assigned,
 * writes a second body for conditional relationships, which evaluates the conditions only for subjects with this role.
 */
function derivation(graph: DerivationGraph, scope: Scope, edge: Edge): readonly Fragment[] {
	const { relation, source, grant_conditions } = edge;
	const conditions = conditionsOn(edge).map((condition) => rego`	${condition}`);
	const write = (title: string, body: readonly Fragment[]) =>
		lines([
			metadata({ title, custom: [[rego`relation`, relation]] }),
			rego`#   kind: role_derivation`,
			rego`${scope.head} if {`,
			...body,
			// This check is last, so it runs only if a role is derived.
			rego`	${notSuspended(edge)}`,
			rego`}`,
		]);
	const title = derivationTitle(edge);
	if (graph.hasFurtherWays(source)) {
		const held = heldOnAny(source, subjectsOfObject(edge));
		return [write(title, scope === onOne ? [...conditions, held] : fromSeveral(edge, conditions))];
	}
	const assigned = assignedTable(source);
	return [
		write(title, among(scope, assigned, conditions, subjectTable(relation))),
		...(grant_conditions === undefined
			? []
			: [write(`${title}, under a condition`, amongConditional(scope, assigned, conditions, edge))]),
	];
}

function fromSeveral(edge: Edge, conditions: readonly Fragment[]): readonly Fragment[] {
	const { source } = edge;
	return edge.no_direct_roles_on_object
		? [
				rego`	free := {object |`,
				...eachObject.map(indented),
				...conditions.map(indented),
				rego`	}`,
				heldOnAny(source, relatedSubjects(edge, rego`free`)),
			]
		: [heldOnAny(source, relatedSubjects(edge, rego`objects`))];
}

function indented(line: Fragment): Fragment {
	return rego`	${line}`;
}

/** Writes the condition that the user holds the role on any of these instances, in any way. */
function heldOnAny(role: RoleName, instances: Fragment): Fragment {
	return rego`	data.${rolePackage(role)}.held_on_any(user, ${instances})`;
}

/**
 * Writes the conditions that an instance is in both tables, for each object. `assigned` contains the instances on which
 * a role is assigned. The Rego iterates over the smaller table.
 */
function among(
	{ each }: Scope,
	assigned: Fragment,
	conditions: readonly Fragment[],
	table: Fragment,
): readonly Fragment[] {
	return each.length === 0
		? [...conditions, rego`	data.regolith.rebac.meet(${assigned}, ${table})`]
		: [rego`	assigned := ${assigned}`, ...each, ...conditions, rego`	data.regolith.rebac.meet(assigned, ${table})`];
}

/** Like `among`, for subjects of conditional relationships whose conditions hold. */
function amongConditional(
	{ each }: Scope,
	assigned: Fragment,
	conditions: readonly Fragment[],
	{ target, relation }: Edge,
): readonly Fragment[] {
	const [given, found] = each.length === 0 ? [[], assigned] : [[rego`	assigned := ${assigned}`], rego`assigned`];
	return [
		...given,
		...each,
		...conditions,
		rego`	grants := ${conditionalSubjectTable(relation)}`,
		rego`	some subject in data.regolith.rebac.granted_among(grants, ${found})`,
		rego`	data.${relationPackage(target.type, relation)}.applies(grants[subject])`,
	];
}

/** Writes the bodies with closure lookups for a role in a cycle. */
function closed(graph: DerivationGraph, cycle: Cycle, name: RoleName, scope: Scope): readonly Fragment[] {
	const { outside, interrupted } = waysIntoCycle(graph, cycle.members);
	const leading = (source: RoleName) =>
		scope === onOne
			? closureReference(name, source)
			: rego`data.regolith.rebac.leading(objects, ${closureName(name.role, source)})`;
	return [
		...cycle.members.flatMap((member) => [
			body(
				scope.head,
				`Derived in a cycle, at any distance, from an assigned ${roleText(member)}`,
				among(scope, assignedTable(member), [], closureReference(name, member)),
			),
			...(graph.isPublic(member)
				? [
						body(
							scope.headForEveryone,
							`Derived in a cycle, at any distance, from a ${roleText(member)} assigned to everyone`,
							[
								...scope.each,
								rego`	some source, leading_until in ${closureReference(name, member)}`,
								rego`	${live(rego`leading_until`)}`,
								rego`	${publicOn(rego`source`, member)}`,
							],
						),
					]
				: []),
			...(graph.conditionsOf(member).length === 0
				? []
				: assignedUnderConditionsAmong(graph, scope.headForEveryone, member, leading(member))),
		]),
		...outside.map((source) =>
			body(
				scope.head,
				`Derived at any distance from ${roleText(source)}, which leads into the cycle`,
				graph.hasFurtherWays(source)
					? [heldOnAny(source, leading(source))]
					: among(scope, assignedTable(source), [], closureReference(name, source)),
			),
		),
		...interrupted.flatMap((member) => [
			...(roleName(member) === roleName(name)
				? [
						body(scope.head, 'Derived from outside the cycle', [
							scope === onOne ? rego`	derived_on_any(user, {object})` : rego`	derived_on_any(user, objects)`,
						]),
					]
				: []),
			body(scope.head, `Derived in a cycle, at any distance, from a derived ${roleText(member)}`, [
				rego`	data.${rolePackage(member)}.derived_on_any(user, ${leading(member)})`,
			]),
		]),
	];
}

function body(head: Fragment, title: string, conditions: readonly Fragment[]): Fragment {
	return lines([metadata({ title }), rego`${head} if {`, ...conditions, rego`}`]);
}

/**
 * Writes a body that uses a walk: around a cycle with edges that depend on the check, or through all sources of the
 * role.
 */
function walked(scope: Scope, title: string, path: Fragment, name: RoleName): Fragment {
	const [given, start] =
		scope === onOne
			? [[], rego`{object}`]
			: [[rego`	live := {object |`, ...eachObject.map(indented), rego`	}`], rego`live`];
	return body(scope.head, title, [
		...given,
		rego`	reached := ${path}.reached(user, {${roleText(name)}: ${start}})`,
		rego`	${path}.given(user, reached)`,
	]);
}
