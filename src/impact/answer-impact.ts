import type { Run } from '../pdp/engine/engine.js';
import type { EngineAndIndex } from '../pdp/follow/load-snapshot.js';
import { stateAfter } from './changed-state.js';
import { compareStates } from './compare-states.js';
import type { ImpactAnswer, ImpactQuestion } from './messages.js';
import { replayDecisions } from './replay-decisions.js';

/** Time share reserved for replaying logged decisions. */
const timeForDecisions = 0.2;

/** Finds the impact of a change. Advances the held state to the state before the change, and leaves it there. */
export async function answerImpact(held: EngineAndIndex, question: ImpactQuestion, run: Run): Promise<ImpactAnswer> {
	const { advance, patches, closures, touched, policy, time, limits, decisions } = question;
	const { checks, rows, milliseconds } = limits;
	const began = performance.now();
	const isOverAt = (part: number) => () => performance.now() - began >= milliseconds * part;
	const after = await stateAfter(held, { advance, patches, closures, policy }, run);
	const states = { before: held, after };
	const isOver = isOverAt(1 - timeForDecisions);
	const comparison = await run(compareStates({ ...states, touched }, time, { checks, rows, isOver }));
	const replayed = await run(replayDecisions(states, decisions, time, { rows, isOver: isOverAt(1) }));
	return { comparison, decisions: replayed };
}
