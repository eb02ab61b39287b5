/** Asks two states of an environment the same questions, and keeps those that come out differently. */

import type { Steps } from '../../compiler/steps.js';
import type { EngineInput } from '../pdp/engine/engine.js';
import type { ImpactCauseCount, ImpactRow } from '../wire/general/impact.js';
import { forEachCandidate, type Place, type StateChange } from './candidates.js';
import type { StatePair } from './deciding-state.js';
import { causeName, describeSide } from './decision-side.js';

/** What a comparison may cost. */
export interface ComparisonLimits {
	/** How many checks are asked. */
	readonly checks: number;
	/** How many rows are listed, of gains and of losses each. */
	readonly rows: number;
	/** Whether there is no more time. */
	readonly isOver: () => boolean;
}

/** What comes out differently. */
export interface Comparison {
	/** Some of the checks that are allowed only after the change, and only before it; by what grants them. */
	readonly gains: readonly ImpactRow[];
	readonly loses: readonly ImpactRow[];
	readonly gained: number;
	readonly lost: number;
	/** How many checks were asked. */
	readonly asked: number;
	/** Each gain and each loss counts for the first of what grants it. */
	readonly by_cause: readonly ImpactCauseCount[];
	/** Whether there may be more gains and losses than were counted. */
	readonly truncated: boolean;
}

/** How many checks are asked between two looks at the time. */
const stride = 100;

/**
 * Finds every check that is allowed in one of the states only, of all users, all actions, and all resource types in all
 * tenants and instances in theirs, at `time` in milliseconds since 1970. What it counts is a lower bound when `truncated`.
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

/** Counts and lists what comes out differently. */
export class ImpactTally {
	readonly #gains: ImpactRow[] = [];
	readonly #loses: ImpactRow[] = [];
	readonly #causes = new Map<string, ImpactCauseCount>();
	#gained = 0;
	#lost = 0;

	constructor(
		private readonly states: StatePair,
		/** How many rows are listed, of gains and of losses each. */
		private readonly rows: number,
	) {}

	/** Asks both states. Returns the row of a check that comes out differently. */
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

/** Sorts by what grants the check, then by what it is about. */
function rowName({ user, action, resource: { type, key }, tenant, before, after }: ImpactRow): string {
	return JSON.stringify([[...before.by, ...after.by].map(causeName), type, action, tenant, key ?? '', user]);
}

function sortedBy<T>(items: readonly T[], nameItem: (item: T) => string): readonly T[] {
	const named = items.map((item) => ({ item, name: nameItem(item) }));
	return named.toSorted((left, right) => (left.name < right.name ? -1 : 1)).map(({ item }) => item);
}
