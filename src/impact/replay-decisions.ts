/** Replays logged checks before and after a change. */

import { z } from 'zod';
import type { Steps } from '../../compiler/steps.js';
import type { EngineInput } from '../pdp/engine/engine.js';
import type { LoggedDecisionRow } from '../wire/general/impact.js';
import { ImpactTally } from './compare-states.js';
import type { StatePair } from './deciding-state.js';

const attributes = z.record(z.string(), z.unknown()).optional();

/** Decision input, as logged by decision points. Events from other sources may have a different shape. */
const LoggedCheck = z.object({
	// Sets of users are skipped, because the log does not contain their holdings.
	user: z.object({ key: z.string().refine((key) => !key.includes('#')), attributes }),
	action: z.string(),
	resource: z.object({ type: z.string(), key: z.string().optional(), tenant: z.string(), attributes }),
	context: attributes,
	// A replay would need the facts at the time of the decision.
	contextual_facts: z.undefined().optional(),
});

/** A logged decision. */
export interface LoggedInput {
	readonly id: string;
	/** Decision time in ISO 8601. */
	readonly timestamp: string;
	/** Logged code; `null` if absent. */
	readonly code: string | null;
	/** Logged check. */
	readonly input: unknown;
}

export interface ReplayedDecisions {
	/**
	 * Numbers of replayed and skipped decisions. A decision is skipped if its logged input is missing or incomplete, is
	 * about a set of users, or contains contextual facts.
	 */
	readonly replayed: number;
	readonly skipped: number;
	readonly gained: number;
	readonly lost: number;
	/** Sample of differing decisions, newest first. */
	readonly rows: readonly LoggedDecisionRow[];
	/** True if the time ran out before all decisions were replayed. */
	readonly truncated: boolean;
}

/** Limits for a replay, as in `ComparisonLimits`. */
interface ReplayLimits {
	readonly rows: number;
	readonly isOver: () => boolean;
}

/**
 * Decides logged checks in both states at `time`, in milliseconds since 1970, with their logged attributes and context.
 */
export function* replayDecisions(
	states: StatePair,
	logged: readonly LoggedInput[],
	time: number,
	limits: ReplayLimits,
): Steps<ReplayedDecisions> {
	const tally = new ImpactTally(states, 0);
	const rows: LoggedDecisionRow[] = [];
	let [replayed, skipped] = [0, 0];
	let truncated = false;
	for (const { id, timestamp, code, input } of logged) {
		yield;
		if (limits.isOver()) {
			truncated = true;
			break;
		}
		const check = LoggedCheck.safeParse(input);
		if (!check.success) {
			skipped += 1;
			continue;
		}
		replayed += 1;
		const row = tally.compare(asInput(check.data, time));
		if (row !== undefined && rows.length < limits.rows) rows.push({ ...row, id, timestamp, logged: code });
	}
	const { gained, lost } = tally.result;
	return { replayed, skipped, gained, lost, rows, truncated };
}

/** Absent fields stay absent, because the policy distinguishes absent fields from undefined fields. */
function asInput({ user, action, resource, context }: z.output<typeof LoggedCheck>, time: number): EngineInput {
	const { type, key, tenant } = resource;
	return {
		user: { key: user.key, ...(user.attributes && { attributes: user.attributes }) },
		action,
		resource: {
			type,
			...(key === undefined ? {} : { key }),
			tenant,
			...(resource.attributes && { attributes: resource.attributes }),
		},
		...(context && { context }),
		time,
	};
}
