import { groupBy } from '../../../compiler/group-by.js';
import { type TupleStep, tuplesBetween } from '../../store/model/fact-edges.js';
import {
	type AssignedRole,
	type InstanceRelation,
	type RoleStep,
	rolesAssigned,
	rolesAssignedOn,
	type TupleEnd,
	tuplesAt,
} from '../../store/model/role-steps.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { FoundSteps, farState, type PathStep, type RoleState, stateName } from './found-steps.js';

/**
 * Finds the shortest paths to a role on an instance. It searches from both ends: forward from a user's assigned roles
 * or from a different instance, and backward from the role. Each step advances the end with the smaller frontier by a
 * level.
 */

/** Maximum number of relationships in a path. */
export const maxPathSteps = 30;
/** Maximum number of roles on instances visited from each end. */
export const maxPathStates = 2_000;
/** Maximum number of relationships followed per instance and relation, and maximum number of assignments per role. */
const mostFollowed = 200;
/** Maximum number of hubs joined per end. Hubs are instances with too many relationships to follow. */
const maxHubs = 50;

/** Search goal. */
export interface PathGoal {
	/**
	 * Starts: the roles assigned to a user, or roles on an instance. A check decides whether a condition holds, so paths
	 * contain conditional assignments and relationships only if `conditional` is true.
	 */
	readonly from: { readonly user_id: string; readonly conditional?: true } | readonly RoleState[];
	/** Ends: a path may end in any of these states. */
	readonly to: readonly RoleState[];
	/** Possible path steps. */
	readonly steps: readonly RoleStep[];
}

/** A path: the relationships in it and, for a path that starts with a user, the assigned role. */
export interface FoundPath {
	readonly assigned: AssignedRole | null;
	readonly steps: readonly PathStep[];
}

export interface FoundPaths {
	/** The paths, shortest first. */
	readonly paths: readonly FoundPath[];
	/** True if there may be more paths. */
	readonly more: boolean;
}

export async function findPaths(unit: ReadingUnit, goal: PathGoal, most: number): Promise<FoundPaths> {
	return new PathSearch(unit, goal).run(most);
}

/** An end of a search. */
interface Side {
	/**
	 * Role of this side's instances in the relationships to follow: subject on the forward side, object on the backward
	 * side.
	 */
	readonly end: TupleEnd;
	/** Names of the reached states. */
	readonly visited: Set<string>;
	/** The states reached last. They have not been followed yet. */
	frontier: readonly RoleState[];
	/** Distance from this end to the frontier, in relationships. */
	depth: number;
	/** Instances with more relationships than the search follows. */
	readonly hubs: Set<string>;
	/** True if the search omitted any relationships or assignments. */
	cut: boolean;
}

class PathSearch {
	readonly #unit: ReadingUnit;
	readonly #goal: PathGoal;
	readonly #userId: string | null;
	/** True if paths contain conditional assignments and relationships. */
	readonly #conditional: boolean;
	readonly #forward = createSide('subject');
	readonly #backward = createSide('object');
	/** Possible path steps, keyed by source role. The second map is keyed by target role. */
	readonly #stepsFrom: ReadonlyMap<string, readonly RoleStep[]>;
	readonly #stepsTo: ReadonlyMap<string, readonly RoleStep[]>;
	/** The user's assigned roles on each examined instance. */
	readonly #assigned = new Map<string, readonly AssignedRole[]>();
	/** Path starts, keyed by state name. */
	readonly #starts = new Map<string, AssignedRole | null>();
	readonly #found = new FoundSteps();

	constructor(unit: ReadingUnit, goal: PathGoal) {
		this.#unit = unit;
		this.#goal = goal;
		this.#userId = 'user_id' in goal.from ? goal.from.user_id : null;
		this.#conditional = 'user_id' in goal.from && goal.from.conditional === true;
		const leading = stepsLeadingTo(goal);
		this.#stepsFrom = groupBy(leading, ({ source_id }) => source_id);
		this.#stepsTo = groupBy(leading, ({ target_id }) => target_id);
	}

	async run(most: number): Promise<FoundPaths> {
		await this.#begin();
		for (let side = this.#next(); side !== null; side = this.#next()) {
			if (this.#haveMet() && this.#paths(most).length >= most) break;
			await this.#follow(side);
		}
		await this.#joinHubs();
		const paths = this.#paths(most + 1);
		return { paths: paths.slice(0, most), more: paths.length > most || !this.#isComplete() };
	}

	async #begin(): Promise<void> {
		const { from, to } = this.#goal;
		this.#backward.frontier = to.filter((state) => visit(this.#backward, state));
		if (!('user_id' in from)) {
			this.#forward.frontier = from.filter(({ role_id }) => this.#stepsFrom.has(role_id));
			for (const state of this.#forward.frontier) this.#start(state, null);
			return;
		}
		const roles = new Set([...this.#stepsFrom.keys(), ...to.map(({ role_id }) => role_id)]);
		const holder = { userId: from.user_id, conditional: this.#conditional };
		const { assigned, cut } = await rolesAssigned(this.#unit, holder, [...roles], mostFollowed);
		this.#forward.cut = cut;
		this.#forward.frontier = assigned;
		for (const role of assigned) this.#start(role, role);
		await this.#lookUpAssigned(to.map(({ instance_id }) => instance_id));
	}

	#start(state: RoleState, assigned: AssignedRole | null): void {
		visit(this.#forward, state);
		this.#starts.set(stateName(state), assigned);
	}

	/**
	 * Returns the end with the smaller frontier, which is followed next; null if nothing is left or a limit is reached.
	 */
	#next(): Side | null {
		const [forward, backward] = [this.#forward, this.#backward];
		if (this.#isComplete() || forward.depth + backward.depth >= maxPathSteps) return null;
		const open = [backward, forward].filter(
			({ frontier, visited }) => frontier.length > 0 && visited.size < maxPathStates,
		);
		return open.sort((left, right) => left.frontier.length - right.frontier.length)[0] ?? null;
	}

	/** True if an end has no more steps, so all paths have been found. */
	#isComplete(): boolean {
		return [this.#forward, this.#backward].some(({ frontier, cut }) => frontier.length === 0 && !cut);
	}

	#haveMet(): boolean {
		return [...this.#forward.visited].some((state) => this.#backward.visited.has(state));
	}

	#paths(most: number): readonly FoundPath[] {
		return this.#found
			.pathsBetween(this.#starts, this.#goal.to, { most, maxSteps: maxPathSteps })
			.map(({ start, steps }) => ({ assigned: this.#starts.get(start) ?? null, steps }));
	}

	async #follow(side: Side): Promise<void> {
		const outward = side.end === 'subject' ? this.#stepsFrom : this.#stepsTo;
		const wanted = new Map<string, InstanceRelation>();
		for (const { role_id, instance_id } of side.frontier) {
			for (const { relation_id } of outward.get(role_id) ?? [])
				wanted.set(`${instance_id} ${relation_id}`, { instance_id, relation_id });
		}
		const followed = { most: mostFollowed, conditional: this.#conditional };
		const { tuples, cut } = await tuplesAt(this.#unit, side.end, [...wanted.values()], followed);
		for (const id of cut) side.hubs.add(id);
		side.cut ||= cut.size > 0;
		side.depth += 1;
		await this.#lookUpAssigned(tuples.map(({ object_id }) => object_id));
		const reached = this.#steps(side, tuples).filter((state) => {
			const isNew = visit(side, state);
			side.cut ||= isNew === 'no room';
			return isNew === true;
		});
		side.frontier = reached;
		// Paths may also begin with assigned roles beyond the first query's limit.
		if (side.end === 'object') await this.#lookUpAssigned(reached.map(({ instance_id }) => instance_id));
	}

	/** Adds the steps from a side's frontier over these tuples. Returns the states at the far end of the steps. */
	#steps({ end, frontier }: Side, tuples: readonly TupleStep[]): readonly RoleState[] {
		const outward = end === 'subject' ? this.#stepsFrom : this.#stepsTo;
		const byInstance = groupBy(tuples, (tuple) => tuple[`${end}_id`]);
		return frontier.flatMap(({ role_id, instance_id }) => {
			const steps = groupBy(outward.get(role_id) ?? [], ({ relation_id }) => relation_id);
			return (byInstance.get(instance_id) ?? []).flatMap((tuple) =>
				(steps.get(tuple.relation_id) ?? []).flatMap((by) => {
					if (this.#isStopped({ tuple, by })) return [];
					this.#found.add({ tuple, by });
					return [farState(end, { tuple, by })];
				}),
			);
		});
	}

	/** Finds the user's roles on instances, and adds these roles as path starts. */
	async #lookUpAssigned(instanceIds: readonly string[]): Promise<void> {
		if (this.#userId === null) return;
		const unknown = [...new Set(instanceIds)].filter((id) => !this.#assigned.has(id));
		const found = groupBy(await rolesAssignedOn(this.#unit, this.#userId, unknown), ({ instance_id }) => instance_id);
		for (const id of unknown) {
			const roles = found.get(id) ?? [];
			this.#assigned.set(id, roles);
			for (const role of roles) if (this.#conditional || role.condition_set === null) this.#start(role, role);
		}
	}

	#isStopped({ tuple, by }: PathStep): boolean {
		return by.stops && (this.#assigned.get(tuple.object_id)?.length ?? 0) > 0;
	}

	/** Adds the steps between the two ends' hubs. */
	async #joinHubs(): Promise<void> {
		const [subjects = [], objects = []] = [this.#forward, this.#backward].map(({ hubs }) =>
			[...hubs].slice(0, maxHubs),
		);
		for (const tuple of await tuplesBetween(this.#unit, subjects, objects, { conditional: this.#conditional })) {
			for (const by of [...this.#stepsTo.values()].flat()) {
				if (by.relation_id === tuple.relation_id && !this.#isStopped({ tuple, by })) this.#found.add({ tuple, by });
			}
		}
	}
}

function createSide(end: TupleEnd): Side {
	return { end, visited: new Set(), frontier: [], depth: 0, hubs: new Set(), cut: false };
}

/** Returns the steps that lead, at any distance, to the goal. */
function stepsLeadingTo({ to, steps }: PathGoal): readonly RoleStep[] {
	const byTarget = groupBy(steps, ({ target_id }) => target_id);
	const leading = new Set(to.map(({ role_id }) => role_id));
	// The loop also visits the ids that it adds.
	for (const id of leading) for (const { source_id } of byTarget.get(id) ?? []) leading.add(source_id);
	return steps.filter(({ target_id }) => leading.has(target_id));
}

/** Marks a state as reached by a side. Returns false for a known state, and `no room` if the limit is reached. */
function visit(side: Side, state: RoleState): boolean | 'no room' {
	const name = stateName(state);
	if (side.visited.has(name)) return false;
	if (side.visited.size >= maxPathStates) return 'no room';
	side.visited.add(name);
	return true;
}
