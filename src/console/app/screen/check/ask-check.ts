import type { DecisionDebug } from '../../../model/check/attempt.js';
import { type CheckBody, type CheckForm, checkBody } from '../../../model/check/check-form.js';
import { type ContextualFactsBody, contextualFactsBody } from '../../../model/check/contextual-rows.js';
import { answered, answeredOnce, decisions, management } from '../../api.js';
import { newestRevision, openSession } from '../../session.js';

/** Result of a check, with its reasons. */
export interface CheckAnswer {
	readonly check: CheckBody;
	/** Contextual facts sent with the check. */
	readonly facts: ContextualFactsBody | undefined;
	readonly allow: boolean;
	readonly debug: DecisionDebug;
	/** Revision at which the check was decided; `null` if unknown. */
	readonly revision: number | null;
	/** Policy revision that decided the check; `null` if unknown. */
	readonly policyRevision: number | null;
	/** The same check's result without its contextual facts; `null` for a check without any. */
	readonly allowWithoutFacts: boolean | null;
	/** True if the decision point decided, false if the API decided. */
	readonly fromDecisionPoint: boolean;
}

interface AskOptions {
	/** Minimum revision of the result; 0 for any. */
	readonly least: number;
	readonly signal: AbortSignal;
}

/**
 * Sends the check to the decision point, or to the API if a revision is chosen or no decision point exists. Returns
 * `null` if the form is incomplete. Throws `ApiFailure`. Also throws for contextual facts, if the API would have to
 * decide.
 */
export async function askCheck(form: CheckForm, { least, signal }: AskOptions): Promise<CheckAnswer | null> {
	const check = checkBody(form);
	if (check === null) return null;
	const facts = contextualFactsBody(form.contextualFacts, form.user);
	if (form.revision !== '' || !openSession().decision_point) {
		if (facts !== undefined) throw new Error('Only decision points accept contextual facts, and none is configured.');
		const revision = form.revision === '' ? newestRevision.peek() : Number(form.revision);
		return explainCheck(check, explanationRequest(check, revision, form), signal);
	}
	const withoutFacts = facts === undefined ? null : askAllowed(check, signal);
	const call = decisions().POST('/allowed', {
		// Attempts suggest facts to store, so they do not support contextual facts.
		body:
			facts === undefined
				? { ...check, use_debugger: 'attempts' }
				: { ...check, contextual_facts: facts, use_debugger: true },
		params: { header: least > 0 ? { 'X-Min-Revision': least } : {} },
		signal,
	});
	const [{ allow, debug }, allowWithoutFacts] = await Promise.all([answered(call), withoutFacts]);
	const { headers } = (await call).response;
	const revision = revisionIn(headers, 'x-revision');
	return {
		check,
		facts,
		allow,
		debug: debug ?? {},
		allowWithoutFacts,
		revision,
		policyRevision: revisionIn(headers, 'x-policy-revision') ?? revision,
		fromDecisionPoint: true,
	};
}

async function askAllowed(check: CheckBody, signal: AbortSignal): Promise<boolean> {
	return (await answered(decisions().POST('/allowed', { body: check, signal }))).allow;
}

async function explainCheck(check: CheckBody, body: ExplanationRequest, signal: AbortSignal): Promise<CheckAnswer> {
	const { allow, debug } = await answeredOnce(
		management.post('/v2/projects/{proj_id}/envs/{env_id}/explanation', { body, signal }),
	);
	const { revision } = body;
	const answer = { check, allow, debug: debug ?? {}, revision, policyRevision: revision };
	return { ...answer, facts: undefined, allowWithoutFacts: null, fromDecisionPoint: false };
}

type ExplanationRequest = ReturnType<typeof explanationRequest>;

/** Returns the request for a check at a revision. The token and the time apply only to a revision from the form. */
export function explanationRequest(check: CheckBody, revision: number, { revision: chosen, token, at }: CheckForm) {
	return { ...check, revision, ...(chosen !== '' && { ...(token !== '' && { token }), ...(at !== '' && { at }) }) };
}

function revisionIn(headers: Headers, name: string): number | null {
	const value = headers.get(name);
	return value === null || !/^\d+$/.test(value) ? null : Number(value);
}
