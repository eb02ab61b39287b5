/** A role of a resource type as Rego: who holds it, one function body for each way. */
import { type Circle, type DerivationGraph, type Edge, nameOf, type RoleName, roleText } from './circle.js';
import { metadata, objectMetadata } from './metadata.js';
import type { RegoFile, Resource, ResourceRole } from './model.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import {
	assignedOn,
	circlePackage,
	closureOf,
	nothingAssignedOn,
	notSuspended,
	rolePackage,
} from './role-reference.js';

/**
 * The package of a role: `held(user, object)` says whether a user, given as what is assigned to them, holds it on the
 * instance of that name, assigned or derived. In a circle, `derived(user, object)` says so for derivations from outside
 * that closures do not hold, and `held_on_any(user, objects)` whether it is held on any instance of a table.
 *
 * Large tables stand in full paths, never in variables: a stock OPA would convert the whole table at each check.
 */
export function writeRole(graph: DerivationGraph, resource: Resource, role: ResourceRole): RegoFile {
	const name = { type: resource.key, role: role.key };
	return regoFile(`regolith/roles/${folderOf(resource.key)}/${folderOf(role.key)}/held.rego`, [
		rego`package ${rolePackage(name)}`,
		lines([objectMetadata(rego`role`, role), rego`#   resource: ${resource.key}`, rego`# scope: document`]),
		...waysToHold(graph, name),
	]);
}

function waysToHold(graph: DerivationGraph, name: RoleName): readonly Fragment[] {
	const circle = graph.circleOf(name);
	const own = graph.leaving(name);
	if (circle === undefined) {
		return [assigned(name), ...own.map((edge) => derivation(graph, rego`held`, edge))];
	}
	if (circle.conditional) {
		return [...walked(circle, name), ...own.map((edge) => derivation(graph, rego`derived`, edge))];
	}
	const conditional = own.filter((edge) => edge.no_direct_roles_on_object);
	return [
		...(asksForAny(graph, name) ? onAny(graph, circle, name) : [assigned(name), ...closed(graph, circle, name, onOne)]),
		...conditional.map((edge) => derivation(graph, rego`derived`, edge)),
	];
}

/**
 * Whether a role is asked for on several instances at once: where one comes to it through relationships or a closure,
 * there may be many, and what the user is assigned is looked up once for all of them.
 */
function asksForAny(graph: DerivationGraph, role: RoleName): boolean {
	return graph.circleOf(role)?.conditional === false && graph.leadsOut(role);
}

/** What a body of a function is about: the instance `object`. */
interface Scope {
	readonly head: Fragment;
	/** The lines that come to the instance, where it is not given. */
	readonly each: readonly Fragment[];
}

const onOne: Scope = { head: rego`held(user, object)`, each: [] };
const onEach: Scope = {
	head: rego`held_on_any(user, objects)`,
	each: [rego`	some object, _ in objects`],
};

function onAny(graph: DerivationGraph, circle: Circle, name: RoleName): readonly Fragment[] {
	return [
		lines([metadata({ title: 'On one instance' }), rego`${onOne.head} if held_on_any(user, {object: null})`]),
		lines([
			metadata({ title: 'Assigned on any of several instances' }),
			rego`held_on_any(user, objects) if data.regolith.rebac.meet(${tableOf(name)}, objects)`,
		]),
		...closed(graph, circle, name, onEach),
	];
}

function assigned(name: RoleName): Fragment {
	return lines([
		metadata({ title: 'Assigned on the instance' }),
		rego`held(user, object) if ${assignedOn(rego`object`, name)}`,
	]);
}

/** A derivation as one body of the function that is called `head`. */
function derivation(graph: DerivationGraph, head: Fragment, edge: Edge): Fragment {
	const subjects = rego`data.regolith.facts.relations[object]${packagePart(edge.relation)}`;
	return lines([
		metadata({
			title: titleOf(edge),
			custom: [[rego`relation`, edge.relation]],
		}),
		rego`#   kind: role_derivation`,
		rego`${head}(user, object) if {`,
		...(edge.no_direct_roles_on_object ? [rego`	${nothingAssignedOn(rego`object`, edge.target.type)}`] : []),
		...heldOnOneOf(graph, edge.source, subjects),
		// Last, so that it costs nothing where nothing is derived.
		rego`	${notSuspended(edge)}`,
		rego`}`,
	]);
}

/** Lines of a body: the user holds the role on one of the instances of a table. */
function heldOnOneOf(graph: DerivationGraph, source: RoleName, table: Fragment): readonly Fragment[] {
	const path = rego`data.${rolePackage(source)}`;
	return asksForAny(graph, source)
		? [rego`	${path}.held_on_any(user, ${table})`]
		: [rego`	some subject, _ in ${table}`, rego`	${path}.held(user, subject)`];
}

function titleOf({ relation, source, no_direct_roles_on_object }: Edge): string {
	const rule = `Derived from ${roleText(source)} by ${relation}`;
	return no_direct_roles_on_object ? `${rule}, unless a role is assigned on the instance` : rule;
}

/** Through the closure. What is assigned is looked for from the smaller side: the closure, or what the user holds. */
function closed(graph: DerivationGraph, circle: Circle, name: RoleName, scope: Scope): readonly Fragment[] {
	const leaving = circle.members.flatMap((member) => graph.leaving(member));
	const outside = new Map(
		leaving.filter((edge) => !edge.no_direct_roles_on_object).map(({ source }) => [nameOf(source), source]),
	);
	const interrupted = circle.members.filter((member) =>
		graph.leaving(member).some((edge) => edge.no_direct_roles_on_object),
	);
	return [
		...circle.members.map((member) =>
			assignedAmong(
				scope,
				`Derived in a circle, at any distance, from an assigned ${roleText(member)}`,
				member,
				closureOf(name, member),
			),
		),
		...[...outside.values()].map((source) => {
			const title = `Derived at any distance from ${roleText(source)}, which leads into the circle`;
			const table = closureOf(name, source);
			// A role that is only ever assigned need not be asked for on each instance.
			return graph.into(source).length > 0
				? body(scope, title, heldOnOneOf(graph, source, table))
				: assignedAmong(scope, title, source, table);
		}),
		...interrupted.flatMap((member) => [
			...(nameOf(member) === nameOf(name)
				? [body(scope, 'Derived from outside of the circle', [rego`	derived(user, object)`])]
				: []),
			body(scope, `Derived in a circle, at any distance, from a derived ${roleText(member)}`, [
				rego`	some subject, _ in ${closureOf(name, member)}`,
				rego`	data.${rolePackage(member)}.derived(user, subject)`,
			]),
		]),
	];
}

function tableOf({ type, role }: RoleName): Fragment {
	return rego`user${packagePart(type)}${packagePart(role)}`;
}

function assignedAmong(scope: Scope, title: string, source: RoleName, table: Fragment): Fragment {
	const held = tableOf(source);
	return scope === onOne
		? body(scope, title, [rego`	data.regolith.rebac.meet(${held}, ${table})`])
		: body({ ...scope, each: [rego`	assigned := ${held}`, ...scope.each] }, title, [
				rego`	data.regolith.rebac.meet(assigned, ${table})`,
			]);
}

function body({ head, each }: Scope, title: string, conditions: readonly Fragment[]): Fragment {
	return lines([metadata({ title }), rego`${head} if {`, ...each, ...conditions, rego`}`]);
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
