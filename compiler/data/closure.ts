/**
 * Closures. The closure of a role on an instance in a derivation cycle contains all roles on instances from which this
 * role is derived, at any distance.
 */
import {
	type Cycle,
	type DerivationGraph,
	dependsOnCheck,
	type Edge,
	type RoleName,
	roleName,
	roleText,
} from '../cycle.js';
import { LongestFirst } from '../longest-first.js';
import type { Instance, Relationship, Schema } from '../model.js';
import { earlier, factExpiry, outlasts, type Until } from '../policy/expiry.js';
import { standingGraph } from '../policy/standing.js';
import { runToEnd, type Steps } from '../steps.js';

/** A role on an instance, and its sources: roles on different instances, from which this role is derived. */
export interface Closure extends RoleName {
	/** Instance key. */
	readonly key: string;
	/**
	 * For each role, the keys of the source instances. Each key maps to the time until which the instance is a source.
	 * Roles without source instances are absent.
	 */
	readonly sources: readonly (RoleName & { readonly keys: ReadonlyMap<string, Until> })[];
}

/** Returns the name of the closure entry with the source instances for one role: `<role> from <type>#<role>`. */
export function closureName(role: string, source: RoleName): string {
	return `${role} from ${roleText(source)}`;
}

/** A relationship's subject and expiry. */
type Subject = readonly [key: string, until: Until];

/** Relationship subjects, keyed by the object's type, the object's key and the relation. */
type Subjects = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, readonly Subject[]>>>;

/**
 * Returns the nonempty closures for these instances. Only cycles whose edges do not depend on the check have closures.
 * A closure contains all sources within the cycle, and the first step on each path from outside, unless this step
 * depends on the check. Closures ignore conditional relationships. A path is valid until its earliest expiry, and a
 * source with several paths until the latest expiry among the paths. `relationships` may contain unrelated rows. Each
 * node is visited once, so the function also ends for diamonds and rings. The closures are for the active policy, which
 * was compiled from `inForce`, without the derivations that `schema` suspends.
 */
export function computeClosures(
	schema: Schema,
	relationships: readonly Relationship[],
	of: readonly Omit<Instance, 'tenant'>[],
	inForce: Schema = schema,
): readonly Closure[] {
	return runToEnd(closureSteps(schema, relationships, of, inForce));
}

/** Like `computeClosures`, but interruptible: each step processes a single instance. */
export function* closureSteps(
	schema: Schema,
	relationships: readonly Relationship[],
	of: readonly Omit<Instance, 'tenant'>[],
	inForce: Schema,
): Steps<readonly Closure[]> {
	const graph = standingGraph(inForce, schema);
	const cycles = graph.cycles.filter(({ conditional }) => !conditional);
	if (cycles.length === 0) {
		return [];
	}
	const subjects = subjectsIn(relationships);
	const closures: Closure[] = [];
	for (const cycle of cycles) {
		const around = derivationSteps(cycle, graph);
		for (const member of cycle.members) {
			for (const { type, key } of of) {
				if (type !== member.type) continue;
				const sources = leadingTo(member, key, around, subjects);
				if (sources.length > 0) closures.push({ ...member, key, sources });
				yield;
			}
		}
	}
	return closures;
}

/** Returns the objects of these relationships, without duplicates. Only these instances can have closures. */
export function relatedObjects(relationships: readonly Relationship[]): readonly Omit<Instance, 'tenant'>[] {
	return [...subjectsIn(relationships)].flatMap(([type, instances]) =>
		[...instances.keys()].map((key) => ({ type, key })),
	);
}

/**
 * The derivations of each member, keyed by the member's name. `inside` is true if the path continues from the source.
 */
type DerivationSteps = ReadonlyMap<string, readonly (Edge & { readonly inside: boolean })[]>;

function derivationSteps(cycle: Cycle, graph: DerivationGraph): DerivationSteps {
	return new Map(
		cycle.members.map((member) => [
			roleName(member),
			graph
				.into(member)
				.map((edge) => ({ ...edge, inside: graph.cycleContaining(edge.source) === cycle }))
				.filter((edge) => edge.inside || !dependsOnCheck(edge)),
		]),
	);
}

function leadingTo(start: RoleName, key: string, steps: DerivationSteps, subjects: Subjects): Closure['sources'] {
	const found = new Map<string, { readonly kind: RoleName; readonly keys: Map<string, Until> }>();
	const queue = new LongestFirst<{ readonly member: RoleName; readonly key: string }>();
	queue.push({ member: start, key }, null);
	// The entry with the latest expiry comes first, so the first path to a node lasts longest.
	for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
		const { item: node, until } = next;
		const better = found.get(roleName(node.member))?.keys.get(node.key);
		if (better !== undefined && outlasts(better, until)) {
			continue;
		}
		for (const { relation, source, inside } of steps.get(roleName(node.member)) ?? []) {
			const name = roleName(source);
			const seen = found.get(name) ?? { kind: source, keys: new Map<string, Until>() };
			found.set(name, seen);
			for (const [subject, related] of subjects.get(node.member.type)?.get(node.key)?.get(relation) ?? []) {
				const leading = earlier(until, related);
				const known = seen.keys.get(subject);
				if (known === undefined || outlasts(leading, known)) {
					seen.keys.set(subject, leading);
					if (inside) {
						queue.push({ member: source, key: subject }, leading);
					}
				}
			}
		}
	}
	// A ring leads back to its start, which must not count as a source of itself.
	found.get(roleName(start))?.keys.delete(key);
	return [...found.values()].filter(({ keys }) => keys.size > 0).map(({ kind, keys }) => ({ ...kind, keys }));
}

function subjectsIn(relationships: readonly Relationship[]): Subjects {
	const found = new Map<string, Map<string, Map<string, Subject[]>>>();
	for (const row of relationships) {
		if (row.condition !== undefined) continue;
		const { type, instance, relation, subject } = row;
		const instances = found.get(type) ?? new Map<string, Map<string, Subject[]>>();
		const relations = instances.get(instance) ?? new Map<string, Subject[]>();
		const subjects = relations.get(relation) ?? [];
		subjects.push([subject, factExpiry(row)]);
		found.set(type, instances.set(instance, relations.set(relation, subjects)));
	}
	return found;
}
