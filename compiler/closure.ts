/** Closures: in a circle of derivations, everything that leads to a role on an instance, at any distance. */
import { type Circle, type DerivationGraph, type Edge, nameOf, type RoleName, roleText } from './circle.js';
import type { Instance, Relationship, Schema } from './model.js';
import { standingGraph } from './standing.js';

/** A role on an instance and the roles on other instances that lead to it. */
export interface Closure extends RoleName {
	/** The instance's key. */
	readonly key: string;
	/** By kind of role, the keys of the instances; kinds without instances are absent. */
	readonly sources: readonly (RoleName & { readonly keys: ReadonlySet<string> })[];
}

/** The name by which an instance's closures hold what leads from one kind of role to a role on it. */
export function wayName(role: string, source: RoleName): string {
	return `${role} from ${roleText(source)}`;
}

/** The subjects of relationships: by the object's type, its key and the relation. */
type Subjects = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>>;

/**
 * The closures of these instances, those that are empty left out. Only circles that no assignment can interrupt have
 * closures. They hold what leads around within the circle, and the first step of what leads into it from outside,
 * unless an assignment can interrupt that. `relationships` may hold more than is needed. Visits each node once, so
 * diamonds and rings end. They are those that the policy of `inForce` reads, as far as `schema` lets it.
 */
export function closuresOf(
	schema: Schema,
	relationships: readonly Relationship[],
	of: readonly Omit<Instance, 'tenant'>[],
	inForce: Schema = schema,
): readonly Closure[] {
	const graph = standingGraph(inForce, schema);
	const circles = graph.circles.filter(({ conditional }) => !conditional);
	if (circles.length === 0) {
		return [];
	}
	const subjects = subjectsIn(relationships);
	return circles.flatMap((circle) => {
		const around = stepsOf(circle, graph);
		return circle.members.flatMap((member) =>
			of
				.filter(({ type }) => type === member.type)
				.map(({ key }) => ({ ...member, key, sources: leadingTo(member, key, around, subjects) }))
				.filter(({ sources }) => sources.length > 0),
		);
	});
}

/** The objects of these relationships, each once: all instances that can have closures. */
export function objectsOf(relationships: readonly Relationship[]): readonly Omit<Instance, 'tenant'>[] {
	return [...subjectsIn(relationships)].flatMap(([type, instances]) =>
		[...instances.keys()].map((key) => ({ type, key })),
	);
}

/** The derivations of each member, by its name. `inside`: whether the way goes on from the source. */
type Steps = ReadonlyMap<string, readonly (Edge & { readonly inside: boolean })[]>;

function stepsOf(circle: Circle, graph: DerivationGraph): Steps {
	return new Map(
		circle.members.map((member) => [
			nameOf(member),
			graph
				.into(member)
				.map((edge) => ({ ...edge, inside: graph.circleOf(edge.source) === circle }))
				.filter(({ inside, no_direct_roles_on_object }) => inside || !no_direct_roles_on_object),
		]),
	);
}

function leadingTo(start: RoleName, key: string, steps: Steps, subjects: Subjects): Closure['sources'] {
	const found = new Map<string, { readonly kind: RoleName; readonly keys: Set<string> }>();
	const queue = [{ member: start, key }];
	// An array iterates what is added to it while it is iterated.
	for (const node of queue) {
		for (const { relation, source, inside } of steps.get(nameOf(node.member)) ?? []) {
			const name = nameOf(source);
			const seen = found.get(name) ?? { kind: source, keys: new Set<string>() };
			found.set(name, seen);
			for (const subject of subjects.get(node.member.type)?.get(node.key)?.get(relation) ?? []) {
				if (!seen.keys.has(subject)) {
					seen.keys.add(subject);
					if (inside) {
						queue.push({ member: source, key: subject });
					}
				}
			}
		}
	}
	// A ring leads back to where it starts, which is no other instance.
	found.get(nameOf(start))?.keys.delete(key);
	return [...found.values()].filter(({ keys }) => keys.size > 0).map(({ kind, keys }) => ({ ...kind, keys }));
}

function subjectsIn(relationships: readonly Relationship[]): Subjects {
	const found = new Map<string, Map<string, Map<string, string[]>>>();
	for (const { type, instance, relation, subject } of relationships) {
		const instances = found.get(type) ?? new Map<string, Map<string, string[]>>();
		const relations = instances.get(instance) ?? new Map<string, string[]>();
		const subjects = relations.get(relation) ?? [];
		subjects.push(subject);
		found.set(type, instances.set(instance, relations.set(relation, subjects)));
	}
	return found;
}
