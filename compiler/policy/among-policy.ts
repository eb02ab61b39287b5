/**
 * Rego for computed roles with derived roles, and for the roles that lead to them. `held_among(user, objects)` returns
 * the instances among `objects` on which a user holds the role. A computed role must be evaluated on each instance,
 * because users may hold its operands on different instances. Each function looks up a role once for all instances.
 *
 * INVARIANT: `held_among` is defined for every user and every set or table of objects, because set operations read it.
 */
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
import { packagePart } from '../rego/path.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { type RoleFormula, requiresRole } from '../role-expression.js';
import { conditionsAmong, conditionsOnObject } from './grant-condition-policy.js';
import { metadata } from './metadata.js';
import { assignedTable, closureReference, live, notSuspended, publicOn, rolePackage } from './role-reference.js';
import { conditionsOn, derivationTitle, eachObject, relatedSubjects, subjectsOfObject, united } from './step-policy.js';

/** A way to hold a role. `conditions` are lines that choose the instance `object` among `objects`. */
interface Way {
	readonly title: string;
	readonly conditions: readonly Fragment[];
	/** True if the way does not use the parameter `user`. */
	readonly forEveryone?: boolean;
}

/** Writes `held_among` for a role without an expression, and `derived_among` for a cycle member if necessary. */
export function writeAmong(graph: DerivationGraph, name: RoleName): readonly Fragment[] {
	const cycle = graph.cycleContaining(name);
	const interrupted = graph.leaving(name).filter((edge) => cycle === undefined || dependsOnCheck(edge));
	const derived = interrupted.map((edge) => derivedWay(graph, edge));
	const assigned = assignedWays(graph, name);
	if (cycle === undefined) return union('held_among', [...assigned, ...derived]);
	return [
		...union('held_among', [...assigned, ...closedWays(graph, cycle, name)]),
		...(derived.length === 0 ? [] : union('derived_among', derived)),
	];
}

/**
 * Writes `held_among` for a computed role, and `held_on_any` if it has derived roles. Each alternative's required roles
 * come first, so the instance set only shrinks.
 */
export function writeComputedAmong(
	graph: DerivationGraph,
	{ type, role }: RoleName,
	formula: RoleFormula,
): readonly Fragment[] {
	const onAny = graph.leadsOut({ type, role })
		? [
				lines([
					metadata({ title: 'On at least one instance' }),
					rego`held_on_any(user, objects) if count(held_among(user, objects)) > 0`,
				]),
			]
		: [];
	// The expression was removed, because it does not compile.
	if (formula.kind === 'any' && formula.parts.length === 0) return [rego`held_among(_, _) := set()`, ...onAny];
	const steps: Fragment[] = [];
	const step = (found: Fragment): Fragment => {
		const variable = rego`found_${steps.length + 1}`;
		steps.push(rego`	${variable} := ${found}`);
		return variable;
	};
	const filter = (part: RoleFormula, objects: Fragment): Fragment => {
		if (part.kind === 'role') {
			const found = rego`data.${rolePackage({ type, role: part.role })}.held_among(user, ${objects})`;
			return step(part.negated ? rego`${objects} - ${found}` : found);
		}
		if (part.kind === 'all') {
			const order = [...part.parts.filter(requiresRole), ...part.parts.filter((one) => !requiresRole(one))];
			return order.reduce((among, one) => filter(one, among), objects);
		}
		const found = part.parts.map((one) => filter(one, objects));
		const [only] = found;
		return found.length === 1 && only !== undefined ? only : step(united(found, '\t'));
	};
	const held = filter(formula, rego`objects`);
	return [
		rego`default held_among(_, _) := set()`,
		lines([
			metadata({ title: 'Among several instances' }),
			rego`held_among(user, objects) := ${held} if {`,
			...steps,
			rego`	not data.regolith.pending.computed${packagePart(type)}${packagePart(role)}`,
			rego`}`,
		]),
		...onAny,
	];
}

function assignedWays(graph: DerivationGraph, name: RoleName): readonly Way[] {
	const assigned = [...eachObject, rego`	${live(rego`${assignedTable(name)}[object]`)}`];
	const forEveryone = [...eachObject, rego`	${publicOn(rego`object`, name)}`];
	return [
		{ title: 'Assigned', conditions: assigned },
		...(graph.isPublic(name) ? [{ title: 'Assigned to everyone', conditions: forEveryone, forEveryone: true }] : []),
		...underConditions(conditionsOnObject(graph, name)),
	];
}

/** Writes the ways to hold a role by conditional assignments. */
function underConditions(bodies: ReturnType<typeof conditionsOnObject>): readonly Way[] {
	return bodies.map(({ title, body }) => ({
		title,
		conditions: [...eachObject, ...body.map((line) => rego`	${line}`)],
		// These assignments are looked up by the user key in the input, not in `user`.
		forEveryone: true,
	}));
}

function derivedWay(graph: DerivationGraph, edge: Edge): Way {
	const { source } = edge;
	const conditions = conditionsOn(edge).map((condition) => rego`	${condition}`);
	const among = graph.hasFurtherWays(source)
		? sourceAmong(source, relatedSubjects(edge, rego`objects`))
		: { gather: [], found: assignedTable(source) };
	return {
		title: derivationTitle(edge),
		conditions: [
			rego`	${notSuspended(edge)}`,
			...among.gather,
			...eachObject,
			...conditions,
			rego`	data.regolith.rebac.meet(${among.found}, ${subjectsOfObject(edge)})`,
		],
	};
}

/** Writes the ways through a cycle's closures. */
function closedWays(graph: DerivationGraph, cycle: Cycle, name: RoleName): readonly Way[] {
	const { outside, interrupted } = waysIntoCycle(graph, cycle.members);
	const leading = (source: RoleName) =>
		rego`data.regolith.rebac.all_leading(objects, ${closureName(name.role, source)})`;
	const meets = (found: Fragment, source: RoleName) => [
		...eachObject,
		rego`	data.regolith.rebac.meet(${found}, ${closureReference(name, source)})`,
	];
	return [
		...cycle.members.flatMap((member): readonly Way[] => [
			{
				title: `Derived in a cycle, at any distance, from an assigned ${roleText(member)}`,
				conditions: meets(assignedTable(member), member),
			},
			...(graph.isPublic(member)
				? [
						{
							title: `Derived in a cycle, at any distance, from a ${roleText(member)} assigned to everyone`,
							conditions: [
								...eachObject,
								rego`	some source, leading_until in ${closureReference(name, member)}`,
								rego`	${live(rego`leading_until`)}`,
								rego`	${publicOn(rego`source`, member)}`,
							],
							forEveryone: true,
						},
					]
				: []),
			...underConditions(conditionsAmong(graph, member, closureReference(name, member))),
		]),
		...outside.map((source): Way => {
			const { gather, found } = graph.hasFurtherWays(source)
				? sourceAmong(source, leading(source))
				: { gather: [], found: assignedTable(source) };
			return {
				title: `Derived at any distance from ${roleText(source)}, which leads into the cycle`,
				conditions: [...gather, ...meets(found, source)],
			};
		}),
		...interrupted.flatMap((member): readonly Way[] => {
			const { gather, found } = sourceAmong(member, leading(member), 'derived_among');
			return [
				...(roleName(member) === roleName(name)
					? [
							{
								title: 'Derived from outside the cycle',
								conditions: [rego`	some object in derived_among(user, objects)`],
							},
						]
					: []),
				{
					title: `Derived in a cycle, at any distance, from a derived ${roleText(member)}`,
					conditions: [...gather, ...meets(found, member)],
				},
			];
		}),
	];
}

/** Writes the lines to find the instances where a source role is held. */
function sourceAmong(source: RoleName, instances: Fragment, called = 'held_among') {
	return {
		gather: [
			rego`	found := data.${rolePackage(source)}.${new Fragment(called)}(user, ${instances})`,
			rego`	count(found) > 0`,
		],
		found: rego`found`,
	};
}

/** Writes a function for each way, and a function that returns the union of their results. */
function union(called: string, ways: readonly Way[]): readonly Fragment[] {
	const name = new Fragment(called);
	const way = ({ title, conditions, forEveryone = false }: Way, head: Fragment) =>
		lines([
			metadata({ title: `${title}, among several instances` }),
			rego`${head}(${forEveryone ? rego`_` : rego`user`}, objects) := {object |`,
			...conditions,
			rego`}`,
		]);
	const [only] = ways;
	if (ways.length === 1 && only !== undefined) return [way(only, name)];
	const heads = ways.map((_, index) => rego`${name}_${index + 1}`);
	return [
		lines([
			metadata({ title: 'Among several instances' }),
			rego`${name}(user, objects) := ${united(
				heads.map((head) => rego`${head}(user, objects)`),
				'',
			)}`,
		]),
		...ways.map((one, index) => way(one, heads[index] ?? name)),
	];
}
