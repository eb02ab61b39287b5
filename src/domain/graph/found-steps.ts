import type { TupleStep } from '../../store/model/fact-edges.js';
import type { RoleStep, TupleEnd } from '../../store/model/role-steps.js';

/** A role on an instance, identified by ids. */
export interface RoleState {
	readonly role_id: string;
	readonly instance_id: string;
}

/** A path step over a relationship: a role on the object follows from a role on the subject. */
export interface PathStep {
	readonly tuple: TupleStep;
	readonly by: RoleStep;
}

/** A path: the name of its first state, and its steps. */
interface StepPath {
	readonly start: string;
	readonly steps: readonly PathStep[];
}

/** Returns a unique string for a role on an instance. */
export function stateName({ role_id, instance_id }: RoleState): string {
	return `${role_id} ${instance_id}`;
}

/** Returns the new state of a step: the target, seen from its subject, or the source, seen from its object. */
export function farState(end: TupleEnd, { tuple, by }: PathStep): RoleState {
	return end === 'subject'
		? { role_id: by.target_id, instance_id: tuple.object_id }
		: { role_id: by.source_id, instance_id: tuple.subject_id };
}

/** The steps found by a search from either end. */
export class FoundSteps {
	readonly #known = new Set<string>();
	/** Steps, keyed by the name of the target state. */
	readonly #into = new Map<string, PathStep[]>();

	/** Adds a step, unless it was already added. */
	add(step: PathStep): void {
		const { tuple, by } = step;
		const name = `${tuple.id} ${by.source_id} ${by.target_id}`;
		if (this.#known.has(name)) return;
		this.#known.add(name);
		const target = stateName(farState('subject', step));
		const into = this.#into.get(target) ?? [];
		this.#into.set(target, into);
		into.push(step);
	}

	/**
	 * Returns the paths from any start to any end, shortest first, without repeated states. Examines at most `most`
	 * paths for each state, so the time is bounded by the number of steps.
	 */
	pathsBetween(
		starts: ReadonlyMap<string, unknown>,
		ends: readonly RoleState[],
		{ most, maxSteps }: { readonly most: number; readonly maxSteps: number },
	): readonly StepPath[] {
		const paths: StepPath[] = [];
		const times = new Map<string, number>();
		const queue: StepPath[] = ends.map((state) => ({ start: stateName(state), steps: [] }));
		// The loop also visits the paths that it adds. Extends the known paths by a step at the start.
		for (const path of queue) {
			if (starts.has(path.start)) paths.push(path);
			if (paths.length === most) break;
			if (path.steps.length === maxSteps) continue;
			const passed = new Set(path.steps.map((step) => stateName(farState('subject', step))));
			for (const step of this.#into.get(path.start) ?? []) {
				const start = stateName(farState('object', step));
				const before = times.get(start) ?? 0;
				if (before >= most || start === path.start || passed.has(start)) continue;
				times.set(start, before + 1);
				queue.push({ start, steps: [step, ...path.steps] });
			}
		}
		return paths;
	}
}
