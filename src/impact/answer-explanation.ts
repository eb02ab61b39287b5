import { delta } from '../../compiler/data/delta.js';
import type { EventLog } from '../log.js';
import { decideWithAttempts } from '../pdp/attempt/attempts.js';
import { normalise } from '../pdp/decide/normalise.js';
import type { Run } from '../pdp/engine/engine.js';
import type { EngineAndIndex } from '../pdp/follow/load-snapshot.js';
import type { Attempt } from '../wire/decision/attempt.js';
import { changedState, patchState } from './changed-state.js';
import { factsOfCheck } from './facts-of-check.js';
import { closurePatches } from './index-closures.js';
import type { Answers, ExplanationQuestion } from './messages.js';
import { pastNeighbourhood } from './past-facts.js';

/**
 * Explains a check in a past state, or in the held state. On request, returns the facts that the check depends on. The
 * held state does not change.
 */
export async function answerExplanation(
	held: EngineAndIndex,
	{ query, time, revision, policyRevision, past, withFacts }: ExplanationQuestion,
	run: Run,
): Promise<Answers['explanation']> {
	const state = past === null ? held : await restoreState(held, past, run);
	const context = { ...state, revision, policyRevision, time, log: silent };
	const input = normalise(query, time);
	const result = await run(decideWithAttempts(context, input));
	if (!withFacts) return { result, facts: null };
	const debug = result.debug as { readonly attempts?: readonly Attempt[] } | undefined;
	const passing = debug?.attempts?.find(({ passed }) => passed);
	return { result, facts: await run(factsOfCheck(state.facts, input, passing)) };
}

/** Restores a past state from a later state. */
export async function restoreState(
	held: EngineAndIndex,
	{ facts, schema, closures, policy }: NonNullable<ExplanationQuestion['past']>,
	run: Run,
): Promise<EngineAndIndex> {
	const { touched, now } = pastNeighbourhood(held.facts, facts);
	const changed = schema !== null;
	const patches = delta(
		// The grants suspended now were not suspended in the past state.
		{ ...touched, schema: changed, pending: changed },
		{ ...now, schema },
	);
	const state = await changedState(held, { policy, patches }, run);
	// Recompute the closures, because derivations or the relationships that they follow may differ.
	if (changed || touched.relationships.length > 0) {
		await patchState(state, closurePatches(state.facts, closures, null), run);
	}
	return state;
}

const nothing = () => undefined;
const silent: EventLog = { debug: nothing, info: nothing, warn: nothing, error: nothing, isLevelEnabled: () => false };
