/**
 * The parts of a policy still in effect after a schema change. A derivation is in effect if the newer schema contains
 * it too and it grants at least as much there. A set rule is in effect if the newer schema contains it and both its
 * sets are unchanged, including everything that leads to a role excluded by the user set. A computed role is in effect
 * if its expression is unchanged, including everything that leads to a role that it excludes. `pending.ts` writes the
 * suspended parts into the data, where `notSuspended` (`role-reference.ts`), computed roles (`computed-policy.ts`) and
 * the action rules (`set-rule-policy.ts`) read them.
 */
import {
	computedRoles,
	type DerivationGraph,
	derivationEdges,
	derivationGraph,
	type Edge,
	publicRoles,
	type RoleName,
	roleLinks,
	roleName,
	roleText,
} from '../cycle.js';
import { groupBy } from '../group-by.js';
import { canonicalText } from '../json-writer.js';
import type { ConditionSet, Schema, SetRule } from '../model.js';
import { roleOperands } from '../role-expression.js';
import { declarationTexts } from './grant-conditions.js';
import { rolesNamedBySet } from './named-roles.js';

/** Returns the name of an edge. The name is unique among the edges into the same target. */
export function edgeName({ relation, source }: Pick<Edge, 'relation' | 'source'>): string {
	return `${relation} from ${roleText(source)}`;
}

/** Returns the active policy's suspended derivations. The newer schema has removed or narrowed them. */
export function suspendedEdges(inForce: Schema, schema: Schema): readonly Edge[] {
	if (inForce === schema) {
		return [];
	}
	const newer = new Map<string, Edge[]>();
	for (const edge of derivationEdges(schema)) {
		const name = edgeText(edge);
		newer.set(name, [...(newer.get(name) ?? []), edge]);
	}
	return derivationEdges(inForce).filter(
		(edge) =>
			!(newer.get(edgeText(edge)) ?? []).some(
				({ no_direct_roles_on_object }) => !no_direct_roles_on_object || edge.no_direct_roles_on_object,
			),
	);
}

/**
 * Returns the active policy's derivations under a newer schema: its graph without the suspended edges. The graph keeps
 * the cycles of the active policy, because the policy's Rego reads the closures of these cycles.
 */
export function standingGraph(inForce: Schema, schema: Schema): DerivationGraph {
	const graph = derivationGraph(inForce);
	const suspended = new Set(suspendedEdges(inForce, schema).map(edgeText));
	if (suspended.size === 0) {
		return graph;
	}
	const stands = (edge: Edge) => !suspended.has(edgeText(edge));
	return {
		...graph,
		into: (role) => graph.into(role).filter(stands),
		leaving: (role) => graph.leaving(role).filter(stands),
	};
}

/**
 * Returns the active policy's suspended computed roles. The newer schema computes them differently, or a role under
 * their `not` may have other holders.
 */
export function suspendedComputedRoles(inForce: Schema, schema: Schema): readonly RoleName[] {
	const before = computedTexts(inForce);
	if (before.size === 0) return [];
	const after = computedTexts(schema);
	return [...before].flatMap(([name, { role, text }]) => (after.get(name)?.text === text ? [] : [role]));
}

/** Returns a string for each computed role. If the string is equal for two schemas, the role need not be suspended. */
function computedTexts(schema: Schema) {
	const upstreamText = upstreamTexts(schema);
	return new Map(
		computedRoles(schema).map(({ target, computed }) => {
			const excluded = roleOperands(computed).filter(({ negated }) => negated);
			const upstream = excluded.map(({ role }) => upstreamText({ type: target.type, role }));
			return [roleName(target), { role: target, text: canonicalText([computed, ...upstream]) }];
		}),
	);
}

/**
 * Returns a test for whether a set rule in the active policy is still in effect: the newer schema contains the rule,
 * and both its sets are unchanged.
 */
export function standingRules(inForce: Schema, schema: Schema): (rule: SetRule) => boolean {
	const before = setTexts(inForce);
	const after = setTexts(schema);
	const rules = new Set(schema.set_rules.map(ruleText));
	const unchanged = (name: string) => before.get(name) !== undefined && before.get(name) === after.get(name);
	return (rule) =>
		rules.has(ruleText(rule)) &&
		unchanged(setName('userset', rule.user_set)) &&
		unchanged(setName('resourceset', rule.resource_set));
}

/** Returns a unique string for a rule, regardless of the characters in its keys. */
export function ruleText({ user_set, resource_set, resource, action }: SetRule): string {
	return JSON.stringify([resource, action, user_set, resource_set]);
}

/** Returns a unique string for an edge. It does not include the edge's setting for direct roles. */
function edgeText(edge: Edge): string {
	return JSON.stringify([roleName(edge.target), edgeName(edge)]);
}

function setName(type: ConditionSet['type'], key: string): string {
	return `${type} ${key}`;
}

/**
 * Returns a string for each set's selection, including the selections of its parents. A set with the same string in two
 * schemas selects the same members.
 */
function setTexts(schema: Schema): ReadonlyMap<string, string> {
	const sets = new Map(schema.condition_sets.map((set) => [setName(set.type, set.key), set]));
	const texts = new Map<string, string>();
	const upstreamText = upstreamTexts(schema);
	for (const [name, set] of sets) {
		const chain: string[] = [];
		const seen = new Set<ConditionSet>();
		// Sets that narrow each other in a cycle do not compile, but must not loop here forever.
		for (let next: ConditionSet | undefined = set; next !== undefined && !seen.has(next); ) {
			seen.add(next);
			chain.push(canonicalText([next.key, next.resource, next.selects]), ...excludedRoles(next).map(upstreamText));
			next = next.parent === null ? undefined : sets.get(setName(next.type, next.parent));
		}
		texts.set(name, chain.join(' '));
	}
	return texts;
}

/** Returns the roles that a set excludes itself. */
function excludedRoles(set: ConditionSet): readonly RoleName[] {
	return rolesNamedBySet(set)
		.filter(({ negated }) => negated)
		.map(({ role }) => ({ type: set.resource ?? '', role }));
}

/**
 * Returns a function that maps a role to a string for everything leading to the role, at any distance: derivations,
 * computed role expressions, and the public or declaring roles on the way. An excluded role must have the same holders
 * in both schemas: additional holders lose access, and suspended derivations would remove holders, who would gain
 * access.
 */
function upstreamTexts(schema: Schema): (role: RoleName) => string {
	let links: ReturnType<typeof linksByTarget> | undefined;
	return (role) => {
		links ??= linksByTarget(schema);
		const roles = new Map([[roleName(role), role]]);
		const found: string[] = [];
		// A Map also iterates over entries added during the iteration, so it serves as the queue.
		for (const [name] of roles) {
			if (links.open.has(name)) found.push(name);
			const computed = links.expressions.get(name);
			if (computed !== undefined) found.push(canonicalText([name, computed]));
			const conditions = links.declared.get(name);
			if (conditions !== undefined) found.push(JSON.stringify([name, conditions]));
			for (const link of links.into.get(name) ?? []) {
				found.push(JSON.stringify(link));
				roles.set(roleName(link.source), link.source);
			}
		}
		return JSON.stringify([role, found.sort()]);
	};
}

function linksByTarget(schema: Schema) {
	const expressions = new Map(computedRoles(schema).map(({ target, computed }) => [roleName(target), computed]));
	const open = new Set(publicRoles(schema).map(roleName));
	const into = groupBy(roleLinks(schema), ({ target }) => roleName(target));
	return { expressions, into, open, declared: declarationTexts(schema) };
}
