/** Decides whether a user's roles give the user a wanted role, through conditional relationships. */

import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { ConditionTest } from '../facts/conditional-facts.js';
import { type Destination, type Leading, nodeName, type RoleOnInstance } from '../facts/role-walk.js';

/** A user, the instances on which the user's roles block derivations, and the user's conditions. */
interface PathUser {
	readonly user: string;
	readonly stops: Pick<ReadonlySet<string>, 'has'>;
	readonly conditions: ConditionTest;
}

/** Paths from a user's roles to the wanted roles, as found by a walk. */
export class EffectivePaths {
	readonly #leading: Leading;
	readonly #wanted: ReadonlySet<string>;
	/** Results for each user's nodes. */
	readonly #known = new Map<string, Map<string, boolean>>();
	readonly #pauses = new Pauses();

	constructor(leading: Leading, { roles, instance }: Omit<Destination, 'time'>) {
		this.#leading = leading;
		this.#wanted = new Set(roles.map((role) => nodeName({ role, instance })));
	}

	/** True if a user who holds the role `start` also holds a wanted role. */
	*lead(start: RoleOnInstance, { user, stops, conditions }: PathUser): Steps<boolean> {
		const known = this.#known.get(user) ?? new Map<string, boolean>();
		this.#known.set(user, known);
		const first = nodeName(start);
		const visited = new Set([first]);
		// A Set also iterates over items added during the iteration, so it serves as the queue.
		for (const name of visited) {
			if (this.#pauses.step()) yield;
			if (known.get(name) ?? this.#wanted.has(name)) {
				known.set(first, true);
				return true;
			}
			if (known.has(name)) continue;
			for (const { to, row, stops: isStoppable } of this.#leading.steps.get(name) ?? []) {
				if (visited.has(nodeName(to)) || (isStoppable && stops.has(to.instance))) continue;
				if (row !== undefined) {
					// A condition may take a thousand times longer than the condition before it.
					yield;
					if (!conditions.holds(row)) continue;
				}
				visited.add(nodeName(to));
			}
		}
		known.set(first, false);
		return false;
	}
}
