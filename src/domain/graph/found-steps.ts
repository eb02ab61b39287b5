import type { TupleStep } from '../../store/model/fact-edges.js';
import type { RoleStep, TupleEnd } from '../../store/model/role-steps.js';

/** A role on an instance, by ids. */
export interface RoleState {
	readonly role_id: string;
	readonly instance_id: string;
}

/** A relationship as a step of a path: a role on its object follows from one on its subject. */
export interface PathStep {
	readonly tuple: TupleStep;
	readonly by: RoleStep;
}

/** A path over steps that were found: the name of the state with which it begins, and its steps. */
interface StepPath {
	readonly start: string;
	readonly steps: readonly PathStep[];
}

/** One text for one role on an instance. */
export function stateName({ role_id, instance_id }: RoleState): string {
	return `${role_id} ${instance_id}`;
}

/** What a step leads to, from its subject, or where it comes from, from its object. */
export function farState(end: TupleEnd, { tuple, by }: PathStep): RoleState {
	return end === 'subject'
		? { role_id: by.target_id, instance_id: tuple.object_id }
		: { role_id: by.source_id, instance_id: tuple.subject_id };
}

/** The steps that a search has found, from whichever end. */
export class FoundSteps {
	readonly #known = new Set<string>();
	/** By the name of what they lead to. */
	readonly #into = new Map<string, PathStep[]>();

	/** Adds a step, once. */
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
	 * The paths from any of the starts to any of the ends, the shortest first, that come to no state twice. Each state is
	 * on at most `most` of the paths that are looked at, so that this takes no longer than there are steps.
	 */
	pathsBetween(
		starts: ReadonlyMap<string, unknown>,
		ends: readonly RoleState[],
		{ most, maxSteps }: { readonly most: number; readonly maxSteps: number },
	): readonly StepPath[] {
		const paths: StepPath[] = [];
		const times = new Map<string, number>();
		const queue: StepPath[] = ends.map((state) => ({ start: stateName(state), steps: [] }));
		// The loop also visits what is added while it runs: each path that is longer by one step at its beginning.
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
