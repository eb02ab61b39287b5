/** Runs the same checks in two states of an environment, and collects the differences. */

import type { Steps } from '../../compiler/steps.js';
import type { EngineInput } from '../pdp/engine/engine.js';
import type { ImpactCauseCount, ImpactRow } from '../wire/general/impact.js';
import { forEachCandidate, type Place, type StateChange } from './candidates.js';
import type { StatePair } from './deciding-state.js';
import { causeName, describeSide } from './decision-side.js';

export interface ComparisonLimits {
	/** Maximum number of checks. */
	readonly checks: number;
	/** Maximum number of listed rows, for gains and for losses separately. */
	readonly rows: number;
	/** Returns true when the time has run out. */
	readonly isOver: () => boolean;
}

export interface Comparison {
	/** Sample of checks allowed only after the change (gains) or only before (losses), sorted by granting cause. */
	readonly gains: readonly ImpactRow[];
	readonly loses: readonly ImpactRow[];
	readonly gained: number;
	readonly lost: number;
	/** Number of checks run. */
	readonly asked: number;
	/** Gains and losses by cause. A check with several granting causes is counted for the first. */
	readonly by_cause: readonly ImpactCauseCount[];
	/** True if there may be more gains and losses than counted. */
	readonly truncated: boolean;
}

/** Number of checks between two time checks. */
const stride = 100;

/**
 * Finds every check that is allowed in only one state at `time`, in milliseconds since 1970. Covers all users and
 * actions, all resource types in each tenant, and all instances. If the result is `truncated`, its counts are lower
 * bounds.
 */
export function* compareStates(change: StateChange, time: number, limits: ComparisonLimits): Steps<Comparison> {
	const tally = new ImpactTally(change, limits.rows);
	let asked = 0;
	const complete = yield* forEachCandidate(change, time, (user, action, place) => {
		if (asked >= limits.checks || (asked % stride === 0 && limits.isOver())) return false;
		asked += 1;
		tally.compare(checkInput(user, action, place, time));
		return true;
	});
	return { ...tally.result, asked, truncated: !complete };
}

function checkInput(user: string, action: string, { type, key, tenant }: Place, time: number): EngineInput {
	const resource = key === undefined ? { type, tenant } : { type, key, tenant };
	return { user: { key: user }, action, resource, time };
}

/** Counts and lists differences. */
export class ImpactTally {
	readonly #gains: ImpactRow[] = [];
	readonly #loses: ImpactRow[] = [];
	readonly #causes = new Map<string, ImpactCauseCount>();
	#gained = 0;
	#lost = 0;

	constructor(
		private readonly states: StatePair,
		/** Maximum number of listed rows, for gains and for losses separately. */
		private readonly rows: number,
	) {}

	/** Runs a check in both states. Returns a row if the results differ. */
	compare(input: EngineInput): ImpactRow | undefined {
		const { before, after } = this.states;
		const [earlier, later] = [before.engine.code(input), after.engine.code(input)];
		const gain = later === 'allow';
		if (gain === (earlier === 'allow')) return undefined;
		const row = {
			user: input.user.key,
			action: input.action,
			resource: { type: input.resource.type, key: input.resource.key ?? null },
			tenant: input.resource.tenant,
			before: describeSide(before.engine, input, earlier),
			after: describeSide(after.engine, input, later),
		};
		if (gain) this.#gained += 1;
		else this.#lost += 1;
		const listed = gain ? this.#gains : this.#loses;
		if (listed.length < this.rows) listed.push(row);
		this.#count(row, gain);
		return row;
	}

	get result(): Omit<Comparison, 'asked' | 'truncated'> {
		const by_cause = sortedBy([...this.#causes.values()], causeName).toSorted(
			(left, right) => right.gained + right.lost - (left.gained + left.lost),
		);
		const [gains, loses] = [sortedBy(this.#gains, rowName), sortedBy(this.#loses, rowName)];
		return { gains, loses, gained: this.#gained, lost: this.#lost, by_cause };
	}

	#count({ before, after }: ImpactRow, gain: boolean): void {
		const [cause] = (gain ? after : before).by;
		if (cause === undefined) return;
		const name = causeName(cause);
		const known = this.#causes.get(name) ?? { ...cause, gained: 0, lost: 0 };
		this.#causes.set(name, { ...known, gained: known.gained + Number(gain), lost: known.lost + Number(!gain) });
	}
}

/** Returns a row's sort key: granting cause first, then the object of the check. */
function rowName({ user, action, resource: { type, key }, tenant, before, after }: ImpactRow): string {
	return JSON.stringify([[...before.by, ...after.by].map(causeName), type, action, tenant, key ?? '', user]);
}

function sortedBy<T>(items: readonly T[], nameItem: (item: T) => string): readonly T[] {
	const named = items.map((item) => ({ item, name: nameItem(item) }));
	return named.toSorted((left, right) => (left.name < right.name ? -1 : 1)).map(({ item }) => item);
}
