import type { Steps } from '../../compiler/steps.js';
import { Failure } from '../failure.js';
import { roleAttempts } from '../pdp/attempt/role-attempts.js';
import { checkNames, RoleFacts } from '../pdp/attempt/role-facts.js';
import { WorkLimit, WorkSpent } from '../pdp/attempt/work-limit.js';
import { withContextualFacts } from '../pdp/decide/contextual-facts.js';
import { normalise } from '../pdp/decide/normalise.js';
import type { EngineInput, Run } from '../pdp/engine/engine.js';
import { GrantConditions } from '../pdp/facts/grant-conditions.js';
import type { EngineAndIndex } from '../pdp/follow/load-snapshot.js';
import type { Query } from '../wire/decision/check.js';
import { type CoveredDerivation, invalidCheck } from '../wire/general/check-test-run.js';
import { stateAfter } from './changed-state.js';
import type { DecidingState } from './deciding-state.js';
import { describeSide, roleOnType } from './decision-side.js';
import type { ChecksQuestion, DecidedSide } from './messages.js';

/** Maximum number of steps to find a check's derivations. */
const stepsPerCheck = 50_000;

/** Decides checks after a change. Advances the held state to the state before the change, and leaves it there. */
export async function answerChecks(
	held: EngineAndIndex,
	question: ChecksQuestion,
	run: Run,
): Promise<readonly DecidedSide[]> {
	return run(decideChecks(await stateAfter(held, question, run), question));
}

function* decideChecks(state: DecidingState, { checks, time }: ChecksQuestion): Steps<readonly DecidedSide[]> {
	const decided: DecidedSide[] = [];
	for (const check of checks) {
		yield;
		const input = inputWithFacts(state, check, time);
		if (input instanceof Failure) {
			decided.push({ side: { allow: false, code: invalidCheck, reason: input.message, by: [] }, derivations: [] });
			continue;
		}
		const side = describeSide(state.engine, input, state.engine.code(input));
		const isDerived = side.by.some(({ by }) => by === 'role_on_instance');
		decided.push({ side, derivations: isDerived ? yield* derivationsOf(state, input, time) : [] });
	}
	return decided;
}

/** Returns the input for a check, or the reason why its contextual facts are rejected. */
function inputWithFacts({ engine, facts }: DecidingState, check: Query, time: number): EngineInput | Failure {
	const input = normalise(check, time);
	if (!check.contextual_facts) return input;
	try {
		return withContextualFacts({ engine, facts, time }, input, check.contextual_facts, ['check']);
	} catch (error) {
		if (error instanceof Failure) return error;
		throw error;
	}
}

/** Returns the derivations on the paths that allow a check. */
function* derivationsOf({ facts }: DecidingState, input: EngineInput, time: number): Steps<CoveredDerivation[]> {
	const found: CoveredDerivation[] = [];
	try {
		const work = new WorkLimit(stepsPerCheck);
		const conditions = new GrantConditions(facts, { user: input.user, context: input.context }, time);
		const roles = yield* RoleFacts.gather(facts, checkNames(input), time, { work, conditions });
		const { attempts } = yield* roleAttempts(roles, true, work);
		for (const { chain } of attempts) {
			for (const [index, step] of chain.entries()) {
				const next = chain[index + 1];
				if (step.type !== 'role_derivation' || next === undefined || !('role' in next)) continue;
				const from = roleOnType(next.role ?? '');
				found.push({ role: roleOnType(step.role), relation: step.relation, from });
			}
		}
	} catch (error) {
		if (!(error instanceof WorkSpent)) throw error;
	}
	return found;
}
