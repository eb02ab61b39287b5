import {
	type Cycle,
	type DerivationGraph,
	dependsOnCheck,
	derivationCycles,
	derivationGraph,
	type RoleName,
} from '../../../compiler/cycle.js';
import { findWalks } from '../../../compiler/data/walk.js';
import { groupBy } from '../../../compiler/group-by.js';
import type { Schema } from '../../../compiler/model.js';
import type { ComputedRoleIds, DerivationStep, StepIds } from '../../store/model/graph-walk.js';

/** Maximum number of steps in a check (see `Steps`). They take less than 100 ms, as measured for decision 0028. */
export const maxSteps = 150_000;

/** Cost, in steps, of visiting a role on an instance in a walked cycle. */
const stepsPerWalked = 100;

/**
 * Cost, in steps, of a relationship if its relation declares conditions: the policy collects the subjects, and copies
 * them if a conditional relationship applies.
 */
const stepsPerDeclaring = 3;

/** Size of the walk for a check on an instance. A check may repeat the walk `Derivations.repeated` times. */
export interface Steps {
	/**
	 * Relationships on the paths to the instance, counted once for each derivation that follows them, with the steps of
	 * their conditions. Closures are not shared, so each closure is counted separately, with all its sources in its cycle.
	 */
	readonly steps: number;
	/** Number of closures read. */
	readonly closures: number;
	/** Steps in the instance's own closures. Each closure that the instance joins grows by this number. */
	readonly own: number;
}

/**
 * An environment's derivations, with ids instead of keys. A single type can therefore contain all roles, and no two
 * relations have the same id.
 */
export class Derivations {
	readonly cycles: readonly Cycle[];
	readonly #rules: readonly DerivationStep[];
	readonly #schema: Schema;
	readonly #graph: DerivationGraph;
	readonly #computed: ReadonlyMap<string, ComputedRoleIds>;
	#repeated: number | undefined;

	constructor(rules: readonly DerivationStep[], computed: readonly ComputedRoleIds[] = []) {
		this.#rules = rules;
		this.#computed = new Map(computed.map((role) => [role.role_id, role]));
		this.#schema = schemaOfIds(rules, computed);
		this.cycles = derivationCycles(this.#schema);
		this.#graph = derivationGraph(this.#schema);
	}

	/** Computed roles a check may look up on several instances, because roles are derived from them. */
	get computedAmong(): readonly ComputedRoleIds[] {
		return [...this.#computed.values()].filter(({ role_id }) => this.isAskedAmong(role_id));
	}

	/**
	 * True if a check looks up a role once for several instances together, and then finds the instances where it is held.
	 */
	isAskedAmong(role: string): boolean {
		return this.#graph.isAskedAmong({ type: '', role });
	}

	/** The ids of all relations in derivations. */
	get relationIds(): readonly string[] {
		return [...new Set(this.#rules.map(({ relation_id }) => relation_id))];
	}

	/** The derivations, each with the derived role's resource. */
	get rules(): readonly DerivationStep[] {
		return this.#rules;
	}

	/**
	 * Maximum number of times that a check repeats the same steps. A check looks up every role on the instance, repeats
	 * the lookup for each computed role with this operand, and looks up all roles again if user sets name roles.
	 */
	get repeated(): number {
		this.#repeated ??= this.#countRepeated();
		return this.#repeated;
	}

	#countRepeated(): number {
		const walks = findWalks(this.#graph, this.#schema);
		const byResource = groupBy(this.#rules, ({ resource_id }) => resource_id);
		let most = 1;
		for (const rules of byResource.values()) {
			const calls = new Map<string, number>();
			const [resource] = rules.map(({ resource_id }) => resource_id);
			const computed = [...this.#computed.values()].filter(({ resource_id }) => resource_id === resource);
			const own = new Set(rules.map(({ role_id }) => role_id));
			for (const role of [...own, ...computed.flatMap((one) => this.#operands(one))]) {
				const name = { type: '', role };
				const walked = walks.walkTo(name) !== undefined;
				for (const called of this.#callsFrom(name, walked)) calls.set(called, (calls.get(called) ?? 0) + 1);
			}
			const times = rules.some(({ asked_by_sets }) => asked_by_sets) ? 2 : 1;
			for (const count of calls.values()) most = Math.max(most, count * times);
		}
		return most;
	}

	/** Returns the roles from which a role is computed, each as often as a check looks it up. */
	#operands({ operand_ids }: ComputedRoleIds): readonly string[] {
		return operand_ids.flatMap((id) => {
			const computed = this.#computed.get(id);
			return computed === undefined ? [id] : this.#operands(computed);
		});
	}

	/**
	 * Returns the derived roles visited by a search for a role, also through computed role operands. Contains
	 * repetitions, unless `once` is set: a walk visits each role once.
	 */
	#callsFrom(start: RoleName, once: boolean): readonly string[] {
		const queue = [start];
		const called: string[] = [];
		const seen = new Set<string>();
		// Array iteration includes items added during the loop.
		for (const role of queue) {
			const cycle = this.#graph.cycleContaining(role);
			const members = cycle?.members ?? [role];
			const [first = role] = members;
			if (once && seen.has(first.role)) continue;
			seen.add(first.role);
			if (this.#graph.into(first).length > 0) called.push(first.role);
			for (const member of members) queue.push(...this.#graph.leaving(member).map(({ source }) => source));
			if (cycle?.conditional === false) {
				// Closures do not contain these sources. A check looks them up on the instances, and again in the closures.
				const interrupted = this.#graph.leaving(role).filter(dependsOnCheck);
				queue.push(...interrupted.map(({ source }) => source));
			}
			const operands = this.#computed.get(role.role)?.operand_ids ?? [];
			queue.push(...operands.map((operand) => ({ ...role, role: operand })));
		}
		return called;
	}
}

/** A derived role, or a computed role a check may look up on several instances. */
interface DerivedRole {
	readonly resource: string;
	/** 0 for a role outside cycles, 1 in a cycle with closures, 2 in a walked cycle. */
	readonly cycle: 0 | 1 | 2;
	readonly rules: readonly Rule[];
	/** Lookups per relationship: two if a check then finds the instances where the role is held. */
	readonly lookUps: 1 | 2;
	/** Number of operands of a computed role. A check looks up each operand on the instance. */
	readonly operandCount: number;
	/** Operand indexes among the resource's derived roles. */
	readonly operands: readonly number[];
}

interface Rule {
	readonly relation: number;
	/** Index among the source resource's derived roles; -1 if the source role is never derived. */
	readonly source: number;
	/** True if the source is in the same cycle. */
	readonly stays: boolean;
	/** Steps per relationship, without its condition. */
	readonly weight: 1 | typeof stepsPerDeclaring;
}

/**
 * An index that finds relationships by object. Each role on an instance has a number, and the numbers are consecutive
 * within an instance.
 */
export class Upstream {
	readonly #byResource: ReadonlyMap<string, readonly DerivedRole[]>;
	readonly #roleIds: ReadonlyMap<DerivedRole, string>;
	/** Relations with derivations, keyed by id. */
	readonly #relations: ReadonlyMap<string, RelationEnds>;
	readonly #numbers = new Map<string, number>();
	readonly #names: string[] = [];
	/** Each instance's first role number; -1 if none of its roles is derived. */
	readonly #starts: number[] = [];
	/** The derived role for each role number. */
	readonly #roles: DerivedRole[] = [];
	readonly #instances: number[] = [];
	/** Subjects, indexed by instance and relation number. */
	readonly #subjects: (number[] | undefined)[][] = [];
	/** Total steps of the relationships' conditions, indexed by instance and relation number. */
	readonly #conditionSteps: number[][] = [];
	readonly #stepsOfSets: ReadonlyMap<string, number>;
	/** For each instance, true if it is the subject in any relationship. */
	readonly #leads: boolean[] = [];
	#seen = new Int32Array(0);
	#seenWithin = new Int32Array(0);
	#rounds = 0;

	/** `stepsOfSets` contains the steps of each condition, keyed by set. */
	constructor(derivations: Derivations, stepsOfSets: ReadonlyMap<string, number> = new Map()) {
		const { rules } = derivations;
		this.#stepsOfSets = stepsOfSets;
		const derived = derivedRoles(derivations);
		this.#byResource = groupBy([...derived.values()], ({ resource }) => resource);
		this.#roleIds = new Map([...derived].map(([id, role]) => [role, id]));
		this.#relations = relationEnds(rules, derived);
	}

	/** Adds relationships, which must be new. Ignores relationships whose relation is in no derivation. */
	add(tuples: readonly StepIds[]): void {
		for (const { subject_id, relation_id, object_id, condition_set = null } of tuples) {
			const ends = this.#relations.get(relation_id);
			if (ends === undefined) continue;
			const subject = this.#numberFor(subject_id, ends.subject);
			const object = this.#numberFor(object_id, ends.object);
			const relations = this.#subjects[object] ?? [];
			this.#subjects[object] = relations;
			const subjects = relations[ends.number] ?? [];
			relations[ends.number] = subjects;
			subjects.push(subject);
			this.#leads[subject] = true;
			if (condition_set === null) continue;
			const steps = this.#conditionSteps[object] ?? [];
			this.#conditionSteps[object] = steps;
			steps[ends.number] = (steps[ends.number] ?? 0) + (this.#stepsOfSets.get(condition_set) ?? 0);
		}
	}

	/**
	 * Yields all object ids. The objects that may need the most steps come first: objects that are also subjects, and
	 * objects with several subjects.
	 */
	*objects(): Generator<string> {
		for (const heavy of [true, false]) {
			for (const [number, relations] of this.#subjects.entries()) {
				if (relations === undefined) continue;
				const count = relations.reduce((sum, subjects) => sum + (subjects?.length ?? 0), 0);
				if ((this.#leads[number] === true || count > 1) === heavy) yield this.#names[number] ?? '';
			}
		}
	}

	/** Returns the first derivable role on an instance. */
	roleOn(id: string): string {
		const role = this.#roles[this.#starts[this.#numbers.get(id) ?? -1] ?? -1];
		return role === undefined ? '' : (this.#roleIds.get(role) ?? '');
	}

	/** Measures the walk for an instance check. Stops counting soon after `most` steps. */
	stepsTo(id: string, most = Number.POSITIVE_INFINITY): Steps {
		const found = { steps: 0, closures: 0, own: 0 };
		const start = this.#starts[this.#numbers.get(id) ?? -1] ?? -1;
		if (start === -1) return found;
		this.#fit();
		this.#rounds += 1;
		const round = this.#rounds;
		const own = this.#byResource.get(this.#roles[start]?.resource ?? '')?.length ?? 0;
		const queue = Array.from({ length: own }, (_, index) => start + index);
		for (const node of queue) this.#seen[node] = round;
		const enter = (node: number) => {
			if (this.#seen[node] === round) return;
			this.#seen[node] = round;
			queue.push(node);
		};
		// Array iteration includes items added during the loop.
		for (const node of queue) {
			const role = this.#roles[node];
			const lookUps = role?.lookUps ?? 1;
			if (role?.cycle === 1) {
				const steps = this.#closure(node, enter, most - found.steps) * lookUps;
				found.closures += 1;
				found.steps += steps;
				if (node < start + own && node >= start) found.own += steps;
			} else {
				if (role?.cycle === 2) found.steps += stepsPerWalked;
				found.steps += this.#follow(node, enter, enter) * lookUps + (role?.operandCount ?? 0);
				const first = this.#starts[this.#instances[node] ?? -1] ?? 0;
				for (const operand of role?.operands ?? []) enter(first + operand);
			}
			if (found.steps > most) break;
		}
		return found;
	}

	/**
	 * Walks all sources of a node within its cycle, and calls `enter` for each source outside the cycle. Returns the step
	 * count.
	 */
	#closure(start: number, enter: (node: number) => void, most: number): number {
		this.#rounds += 1;
		const round = this.#rounds;
		const queue = [start];
		this.#seenWithin[start] = round;
		const visit = (node: number) => {
			if (this.#seenWithin[node] === round) return;
			this.#seenWithin[node] = round;
			queue.push(node);
		};
		let steps = 0;
		for (const node of queue) {
			steps += this.#follow(node, visit, enter);
			if (steps > most) break;
		}
		return steps;
	}

	#follow(node: number, stay: (node: number) => void, leave: (node: number) => void): number {
		const instance = this.#instances[node] ?? -1;
		const relations = this.#subjects[instance];
		if (relations === undefined) return 0;
		const conditionSteps = this.#conditionSteps[instance];
		let steps = 0;
		for (const { relation, source, stays, weight } of this.#roles[node]?.rules ?? []) {
			const subjects = relations[relation] ?? [];
			steps += subjects.length * weight + (conditionSteps?.[relation] ?? 0);
			if (source === -1) continue;
			for (const subject of subjects) (stays ? stay : leave)((this.#starts[subject] ?? 0) + source);
		}
		return steps;
	}

	/** Enlarges the arrays to fit added roles. */
	#fit(): void {
		if (this.#seen.length >= this.#roles.length) return;
		this.#seen = new Int32Array(this.#roles.length);
		this.#seenWithin = new Int32Array(this.#roles.length);
	}

	#numberFor(id: string, resource: string | null): number {
		const number = this.#numbers.get(id) ?? this.#names.length;
		if (number === this.#names.length) {
			this.#numbers.set(id, number);
			this.#names.push(id);
			this.#starts.push(-1);
		}
		if (resource !== null && this.#starts[number] === -1) {
			this.#starts[number] = this.#roles.length;
			for (const role of this.#byResource.get(resource) ?? []) {
				this.#roles.push(role);
				this.#instances.push(number);
			}
		}
		return number;
	}
}

/** A relation's number, and the resources on both sides. `subject` is null if no role on the subject is derived. */
interface RelationEnds {
	readonly number: number;
	readonly object: string;
	readonly subject: string | null;
}

function derivedRoles(derivations: Derivations): ReadonlyMap<string, DerivedRole> {
	const { rules, cycles, computedAmong } = derivations;
	const inside = new Map(cycles.flatMap((cycle) => cycle.members.map(({ role }) => [role, cycle])));
	const byRole = groupBy(rules, ({ role_id }) => role_id);
	const relations = numberByKey(rules.map(({ relation_id }) => relation_id));
	const indexes = new Map<string, number>();
	for (const sameResource of groupBy([...rules, ...computedAmong], ({ resource_id }) => resource_id).values()) {
		for (const [role, index] of numberByKey(sameResource.map(({ role_id }) => role_id))) indexes.set(role, index);
	}
	const derived = new Map(
		[...byRole].map(([id, own]): [string, DerivedRole] => {
			const cycle = inside.get(id);
			const given = own.map(
				({ relation_id, source_role_id, conditional }): Rule => ({
					relation: relations.get(relation_id) ?? -1,
					source: indexes.get(source_role_id) ?? -1,
					stays: cycle !== undefined && inside.get(source_role_id) === cycle,
					weight: conditional ? stepsPerDeclaring : 1,
				}),
			);
			const kind = cycle === undefined ? 0 : cycle.conditional ? 2 : 1;
			const resource = own[0]?.resource_id ?? '';
			const lookUps = derivations.isAskedAmong(id) ? 2 : 1;
			return [id, { resource, cycle: kind, rules: given, lookUps, operandCount: 0, operands: [] }];
		}),
	);
	for (const { role_id, resource_id: resource, operand_ids } of computedAmong) {
		const operands = operand_ids.flatMap((id) => indexes.get(id) ?? []);
		derived.set(role_id, { resource, cycle: 0, rules: [], lookUps: 1, operandCount: operand_ids.length, operands });
	}
	return derived;
}

function relationEnds(
	rules: readonly DerivationStep[],
	derived: ReadonlyMap<string, DerivedRole>,
): ReadonlyMap<string, RelationEnds> {
	const numbers = numberByKey(rules.map(({ relation_id }) => relation_id));
	const ends = new Map<string, RelationEnds>();
	for (const { relation_id, resource_id, source_role_id } of rules) {
		const subject = derived.get(source_role_id)?.resource ?? ends.get(relation_id)?.subject ?? null;
		ends.set(relation_id, { number: numbers.get(relation_id) ?? -1, object: resource_id, subject });
	}
	return ends;
}

function numberByKey(keys: readonly string[]): ReadonlyMap<string, number> {
	return new Map([...new Set(keys)].map((key, index) => [key, index]));
}

/** Returns the roles and derivations as a single-type schema with ids as keys. Ignores operand signs. */
export function schemaOfIds(rules: readonly DerivationStep[], computed: readonly ComputedRoleIds[]): Schema {
	const unnamed = { name: '', description: null };
	const derivations = groupBy(rules, ({ role_id }) => role_id);
	const operands = new Map(computed.map(({ role_id, operand_ids }) => [role_id, operand_ids]));
	const roleIds = new Set([
		...rules.flatMap(({ role_id, source_role_id }) => [role_id, source_role_id]),
		...[...operands].flatMap(([id, operand_ids]) => [id, ...operand_ids]),
	]);
	const roles = [...roleIds].map((key) => {
		const given = (derivations.get(key) ?? []).map(({ relation_id, source_role_id, no_direct_roles_on_object }) => {
			return { relation: relation_id, role: source_role_id, no_direct_roles_on_object };
		});
		const allOf = operands.get(key);
		return {
			key,
			...unnamed,
			permissions: [],
			extends: [],
			derivations: given,
			no_direct_roles_on_object: false,
			...(allOf && { computed: { allOf } }),
		};
	});
	const relations = [...new Map(rules.map((rule) => [rule.relation_id, rule.conditional])).entries()].map(
		// Only the presence of conditions matters.
		([key, conditional]) => ({ key, ...unnamed, subject: '', ...(conditional && { grant_conditions: [key] }) }),
	);
	return {
		condition_sets: [],
		set_rules: [],
		resources: [{ key: '', ...unnamed, actions: [], roles, relations }],
		roles: [],
	};
}
