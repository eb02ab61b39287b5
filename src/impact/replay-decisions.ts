/** Decides logged checks again, before and after a change. */

import { z } from 'zod';
import type { Steps } from '../../compiler/steps.js';
import type { EngineInput } from '../pdp/engine/engine.js';
import type { LoggedDecisionRow } from '../wire/general/impact.js';
import { ImpactTally } from './compare-states.js';
import type { StatePair } from './deciding-state.js';

const attributes = z.record(z.string(), z.unknown()).optional();

/** The input of a decision as decision points log it. Whatever else sends events may log something else. */
const LoggedCheck = z.object({
	user: z.object({ key: z.string(), attributes }),
	action: z.string(),
	resource: z.object({ type: z.string(), key: z.string().optional(), tenant: z.string(), attributes }),
	context: attributes,
});

/** A decision of the log. */
export interface LoggedInput {
	readonly id: string;
	/** ISO 8601. */
	readonly timestamp: string;
	/** What was decided; `null` where the log does not say. */
	readonly code: string | null;
	/** The check, as the log has it. */
	readonly input: unknown;
}

/** What became of logged decisions. */
export interface ReplayedDecisions {
	/** How many were decided again, and how many could not be: masked, cut, or logged by something else. */
	readonly replayed: number;
	readonly skipped: number;
	readonly gained: number;
	readonly lost: number;
	/** Some of those that come out differently, the newest first. */
	readonly rows: readonly LoggedDecisionRow[];
	/** Whether there was no time for all of them. */
	readonly truncated: boolean;
}

/** What a replay may cost: as of a comparison. */
interface ReplayLimits {
	readonly rows: number;
	readonly isOver: () => boolean;
}

/** Decides logged checks in both states at `time`, in milliseconds since 1970, with the attributes and context that they had. */
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

/** Absent members stay absent: the policy tells them from undefined ones. */
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
