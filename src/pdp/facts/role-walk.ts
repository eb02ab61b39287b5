/**
 * Walks role derivations: from a user's assigned roles to roles derived from them, and from an instance back to
 * assigned roles.
 */

import { everyone } from '../../../compiler/everyone.js';
import { holdsFormula } from '../../../compiler/role-expression.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { EngineInput } from '../engine/engine.js';
import type { ConditionalRelationship, ConditionTest } from './conditional-facts.js';
import type { FactsIndex } from './facts-index.js';
import { instanceType } from './instance-name.js';
import type { NoteExpiry } from './links.js';
import type { Derivation, Derived } from './schema-tables.js';

/** A set of nodes in the derivation graph: roles on instances. An instance is a name, or the name's number. */
export class RolesOnInstances<Instance = string> {
	readonly #instances = new Map<string, Set<Instance>>();

	/** Adds a role on an instance. Returns false if it is already in the set. */
	add(role: string, instance: Instance): boolean {
		const instances = this.#instances.get(role) ?? new Set();
		this.#instances.set(role, instances);
		return instances.size !== instances.add(instance).size;
	}

	has(role: string, instance: Instance): boolean {
		return this.#instances.get(role)?.has(instance) ?? false;
	}
}

export interface RoleOnInstance {
	readonly role: string;
	readonly instance: string;
}

/**
 * A walk along derivations, in either direction, that visits each role on an instance once. The caller decides which
 * derivations are open.
 */
export class RoleWalk<Node extends RoleOnInstance = RoleOnInstance> {
	/** Visited nodes, in order. A loop over the nodes also reaches nodes added during the loop. */
	readonly nodes: Node[] = [];
	readonly seen = new RolesOnInstances();

	/**
	 * @param time milliseconds since 1970, at which the relationships must be valid
	 * @param counts true for the conditional relationships to follow
	 */
	constructor(
		private readonly facts: FactsIndex,
		private readonly time: number,
		private readonly steps: Pick<Pauses, 'step'>,
		private readonly counts: RelationshipTest,
	) {}

	visit(node: Node): void {
		if (this.seen.add(node.role, node.instance)) this.nodes.push(node);
	}

	/**
	 * Finds the subjects from which `derivations` derive roles on `object`. `found` also receives the relationship if it
	 * is conditional.
	 */
	*followUpstream(
		object: string,
		derivations: readonly Derivation[],
		found: (derivation: Derivation, subject: string, row?: ConditionalRelationship) => void,
	): Steps<void> {
		if (derivations.length === 0) return;
		for (const [subject, relation] of this.facts.relations.from(object, this.time)) {
			if (this.steps.step()) yield;
			for (const derivation of derivations) if (follows(derivation, relation, subject)) found(derivation, subject);
		}
		for (const row of this.facts.conditionalRelations.from(object, this.time)) {
			const followed = derivations.filter((derivation) => follows(derivation, row.relation, row.subject));
			if (yield* this.#isFollowed(row, followed))
				for (const derivation of followed) found(derivation, row.subject, row);
		}
	}

	/** Finds the objects on which a role is derived from the node. */
	*followDownstream(
		{ role, instance }: RoleOnInstance,
		found: (derived: Derivation, object: string) => void,
	): Steps<void> {
		const derived = this.facts.schema.derivedFrom(instanceType(instance), role);
		if (derived.length === 0) return;
		for (const [object, relation] of this.facts.relations.to(instance, this.time)) {
			if (this.steps.step()) yield;
			for (const target of derived) if (follows(target, relation, object)) found(target, object);
		}
		for (const [object, row] of this.facts.conditionalRelations.to(instance, this.time)) {
			const followed = derived.filter((target) => follows(target, row.relation, object));
			if (yield* this.#isFollowed(row, followed)) for (const target of followed) found(target, object);
		}
	}

	*#isFollowed(row: ConditionalRelationship, followed: readonly Derivation[]): Steps<boolean> {
		if (this.steps.step()) yield;
		if (followed.length === 0) return false;
		// A condition may take a thousand times longer than the condition before it.
		yield;
		return this.counts(row);
	}
}

/** Decides whether to follow a conditional relationship. */
export type RelationshipTest = (row: ConditionalRelationship) => boolean;

/** Follows all conditional relationships, for callers that need all possible paths. */
export const anyRelationship: RelationshipTest = () => true;

/** True if a derivation uses this relation to this instance. */
export function follows(derivation: Derivation, relation: string, instance: string): boolean {
	return derivation.relation === relation && derivation.resource === instanceType(instance);
}

/** Roles by the number of the instance. */
export type RolesByInstance = ReadonlyMap<number, readonly string[]>;

/** A user's roles on instances at a time. */
export interface UserRoles {
	/** Roles that the user holds. */
	readonly held: RolesByInstance;
	/**
	 * Roles the user would hold if no assigned role blocked a derivation, computed roles excluded no role, and all
	 * conditions held.
	 */
	readonly reached: RolesByInstance;
	/** True if only the engine can decide which roles the user holds. `held` may then be incomplete. */
	readonly uncertain?: boolean;
}

/** A user. As in the policy, `holdings` replace the stored roles on instances. */
type RoleHolder = Pick<EngineInput['user'], 'key' | 'holdings'>;

/** Yields a user's assigned roles, or the roles in `holdings` if it is set. Instances are numbers. */
export function* assignedRoles(
	{ names, instanceRoles }: FactsIndex,
	{ key, holdings }: RoleHolder,
	time: number,
	note?: NoteExpiry,
): Iterable<NumberedNode> {
	const number = names.number(key);
	if (holdings === undefined && number !== undefined) {
		for (const [instance, role] of instanceRoles.numbersFrom(number, time, note)) yield [names.text(role), instance];
	}
	for (const roles of Object.values(holdings ?? {})) {
		for (const [role, instances] of Object.entries(roles)) {
			for (const instance of Object.keys(instances)) {
				const known = names.number(instance);
				if (known !== undefined) yield [role, known];
			}
		}
	}
}

/**
 * Walks from a user's assigned roles, and from public roles, to all roles on instances reached by derivations. Only the
 * user's own roles block derivations. Calls `note` with the expiry, if any, for each fact on the way. `conditions`
 * decides conditional assignments and relationships; without it, they do not count.
 */
export function* rolesOnInstances(
	facts: FactsIndex,
	user: RoleHolder,
	time: number,
	{ note, conditions }: { readonly note?: NoteExpiry; readonly conditions?: ConditionTest } = {},
): Steps<UserRoles> {
	const assigned: NumberedNode[] = [];
	const stops = new Set<number>();
	const pauses = new Pauses();
	for (const node of assignedRoles(facts, user, time, note)) {
		if (pauses.step()) yield;
		assigned.push(node);
		if (user.key !== everyone) stops.add(node[1]);
	}
	for (const node of user.key === everyone ? [] : assignedRoles(facts, { key: everyone }, time, note)) {
		if (pauses.step()) yield;
		assigned.push(node);
	}
	const possible = [...assigned];
	for (const grant of facts.conditionalRoles.from(user.key, time)) {
		const instance = facts.names.number(grant.instance);
		if (instance === undefined) continue;
		possible.push([grant.role, instance]);
		// The assignment blocks a derivation whether its condition holds or not.
		stops.add(instance);
		if (grant.until !== null) note?.(grant.until);
		if (conditions?.holds(grant)) assigned.push([grant.role, instance]);
		// A condition may take a thousand times longer than the condition before it.
		yield;
	}
	// If none of these conditions holds, both walks find the same roles.
	const differs =
		facts.schema.hasStops ||
		facts.schema.derivesFromComputed ||
		possible.length !== assigned.length ||
		!facts.conditionalRelations.isEmpty;
	const counts: RelationshipTest = (row) => conditions?.holds(row) ?? false;
	const held = yield* walkDerivations(facts, { assigned, stops, counts, time, note });
	const all = { assigned: possible, stops: undefined, counts: anyRelationship, time, note };
	const reached = differs ? yield* walkDerivations(facts, all) : held;
	return { held, reached, uncertain: conditions?.uncertain ?? false };
}

type NumberedNode = readonly [role: string, instance: number];

interface DerivationWalk {
	readonly assigned: readonly NumberedNode[];
	/** Instances on which an assigned role blocks derivations; `undefined` to ignore blocks and excluded roles. */
	readonly stops: ReadonlySet<number> | undefined;
	readonly counts: RelationshipTest;
	readonly time: number;
	readonly note: NoteExpiry | undefined;
}

function* walkDerivations(
	{ names, schema, relations, conditionalRelations }: FactsIndex,
	{ assigned, stops, counts, time, note }: DerivationWalk,
): Steps<RolesByInstance> {
	const seen = new RolesOnInstances<number>();
	const found = new Map<number, string[]>();
	const queue: NumberedNode[] = [];
	let next = 0;
	const visit = (role: string, instance: number) => {
		if (!seen.add(role, instance)) return;
		queue.push([role, instance]);
		const roles = found.get(instance);
		if (roles === undefined) found.set(instance, [role]);
		else roles.push(role);
	};
	const pauses = new Pauses();
	for (const [role, instance] of assigned) {
		if (pauses.step()) yield;
		// Assigning a computed role has no effect.
		if (schema.hasComputed && schema.computed(instanceType(names.text(instance)), role) !== undefined) continue;
		visit(role, instance);
	}
	yield* followAll();
	for (const stage of schema.computedStages) {
		for (const [instance, roles] of found) {
			if (pauses.step()) yield;
			const held = (role: string) => roles.includes(role);
			for (const { role, formula, superset } of stage.get(instanceType(names.text(instance))) ?? []) {
				if (holdsFormula(stops === undefined ? superset : formula, held)) visit(role, instance);
			}
		}
		yield* followAll();
	}
	return found;

	/** Follows the derivations from all visited nodes. */
	function* followAll(): Steps<void> {
		for (let node = queue[next]; node !== undefined; node = queue[next]) {
			next += 1;
			if (pauses.step()) yield;
			const [role, instance] = node;
			const derived = schema.derivedFrom(instanceType(names.text(instance)), role);
			if (derived.length === 0) continue;
			for (const [object, relation] of relations.numbersTo(instance, time, note)) {
				if (pauses.step()) yield;
				for (const target of derived) {
					if (target.relation !== names.text(relation) || target.resource !== instanceType(names.text(object)))
						continue;
					if (target.no_direct_roles_on_object && stops?.has(object)) continue;
					visit(target.role, object);
				}
			}
			if (!conditionalRelations.isEmpty) yield* followConditional(instance, derived);
		}
	}

	function* followConditional(instance: number, derived: readonly Derived[]): Steps<void> {
		for (const [name, row] of conditionalRelations.to(names.text(instance), time)) {
			const object = names.number(name);
			const open = derived.filter(
				(target) =>
					follows(target, row.relation, name) &&
					!(target.no_direct_roles_on_object && object !== undefined && stops?.has(object)),
			);
			if (open.length === 0 || object === undefined) continue;
			if (row.until !== null) note?.(row.until);
			// A condition may take a thousand times longer than the condition before it.
			yield;
			if (counts(row)) for (const target of open) visit(target.role, object);
		}
	}
}

/** Nodes from which the wanted roles on an instance are derived or computed, including the wanted roles. */
export interface Leading {
	/**
	 * Roles on instances. Unless `computes` is true, a user with any of these roles also holds a wanted role, provided
	 * that no assigned role blocks the path and that its relationships count.
	 */
	readonly nodes: readonly RoleOnInstance[];
	/**
	 * True if computed roles are among the nodes. The nodes then also include the roles required by the computed roles,
	 * and a user may need several of the required roles.
	 */
	readonly computes: boolean;
	/** The same nodes, as a set. */
	readonly seen: RolesOnInstances;
	/** Instances on which an assigned role blocks a derivation on the path. */
	readonly stops: ReadonlySet<string>;
	/** True if a conditional relationship is on a path to a wanted role. */
	readonly conditional: boolean;
	/** Steps from a node toward the wanted roles, by the node's name. Empty without conditional relationships. */
	readonly steps: ReadonlyMap<string, readonly LeadingStep[]>;
}

/** A step from a node to the next node on a path to a wanted role. */
export interface LeadingStep {
	readonly to: RoleOnInstance;
	/** The conditional relationship that the step follows. */
	readonly row?: ConditionalRelationship | undefined;
	/** True if an assigned role on the next node's instance blocks the step. */
	readonly stops: boolean;
}

/** Returns a unique string for a role on an instance. */
export function nodeName({ role, instance }: RoleOnInstance): string {
	return JSON.stringify([role, instance]);
}

/** Destination for `leadingTo`. */
export interface Destination {
	/** The wanted roles. Any of these roles suffices. */
	readonly roles: readonly string[];
	/** Instance on which the role is held. */
	readonly instance: string;
	/** Time in milliseconds since 1970. */
	readonly time: number;
}

/**
 * Finds all nodes from which the wanted roles on an instance are derived or computed, at any distance. `assigned` are
 * the instances on which the user has assigned roles, which may block derivations. Follows the conditional
 * relationships for which `counts` is true; all by default.
 */
export function* leadingTo(
	facts: FactsIndex,
	{ roles, instance, time }: Destination,
	assigned: Pick<ReadonlySet<string>, 'has'>,
	counts = anyRelationship,
): Steps<Leading> {
	const pauses = new Pauses();
	const steps = new Map<string, LeadingStep[]>();
	let conditional = false;
	const addStep = (from: RoleOnInstance, step: LeadingStep) => {
		if (facts.conditionalRelations.isEmpty) return;
		conditional ||= step.row !== undefined;
		const known = steps.get(nodeName(from));
		if (known === undefined) steps.set(nodeName(from), [step]);
		else known.push(step);
	};
	const walk = new RoleWalk(facts, time, pauses, counts);
	const stops = new Set<string>();
	let computes = false;
	for (const role of roles) walk.visit({ role, instance });
	for (const node of walk.nodes) {
		if (pauses.step()) yield;
		const { role, instance: object } = node;
		const computed = facts.schema.computed(instanceType(object), role);
		if (computed !== undefined) {
			computes = true;
			for (const required of computed.required) {
				walk.visit({ role: required, instance: object });
				addStep({ role: required, instance: object }, { to: node, stops: false });
			}
		}
		const derivations = facts.schema.derivations(instanceType(object), role);
		const stopping = derivations.some((derivation) => derivation.no_direct_roles_on_object);
		if (stopping) stops.add(object);
		const open =
			stopping && assigned.has(object)
				? derivations.filter((derivation) => !derivation.no_direct_roles_on_object)
				: derivations;
		yield* walk.followUpstream(object, open, (derivation, subject, row) => {
			const source = { role: derivation.role, instance: subject };
			walk.visit(source);
			addStep(source, { to: node, row, stops: derivation.no_direct_roles_on_object });
		});
	}
	return { nodes: walk.nodes, computes, seen: walk.seen, stops, conditional, steps };
}
