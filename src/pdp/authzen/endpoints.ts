/** AuthZEN Authorization API 1.0: evaluations and searches, mapped to checks. */

import type { Steps } from '../../../compiler/steps.js';
import { isUserSet } from '../../../compiler/user-set.js';
import { Failure, unprocessable } from '../../failure.js';
import { declaredPath, methods, type Raw, reply } from '../../http/endpoint.js';
import {
	ActionSearch,
	Evaluation,
	EvaluationResult,
	Evaluations,
	EvaluationsResult,
	type EvaluationsSemantic,
	evaluationAt,
	FoundActions,
	FoundEntities,
	maxEvaluations,
	maxResults,
	ResourceSearch,
	type SeveralEvaluations,
	SubjectSearch,
} from '../../wire/decision/authzen.js';
import { DecidedAnswer, ReasonsRequest } from '../../wire/headers.js';
import { withContextualFacts } from '../decide/contextual-facts.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import type { Mode } from '../decide/normalise.js';
import type { ReadResult } from '../decide/revision-reader.js';
import { headerExplains, maxExplained } from '../endpoint/decision-endpoints.js';
import { chunkedReply, endpoint, revisionHeader, unavailable, unavailableOrCostly } from '../endpoint/endpoint.js';
import { enough, forEachItem } from '../engine/chunks.js';
import { arrayChunks } from '../engine/json-chunks.js';
import { asAuthzenFailure } from './failures.js';
import { evaluationInput, isHolder } from './input.js';
import { authzenPaths, metadataEndpoints } from './metadata.js';
import { type Found, searchActions, searchResources, searchSubjects } from './search.js';

export interface AuthzenSettings {
	/** Public URL of the decision point, without a trailing slash; `null` uses the request's origin. */
	readonly publicUrl: string | null;
	/** Subject types that are users. Other subjects are always denied. */
	readonly subjectTypes: readonly string[];
}

/** Default settings. */
export const usualAuthzen: AuthzenSettings = { publicUrl: null, subjectTypes: ['user', 'identity'] };

const tag = 'AuthZEN';
const access = 'authzen';

const example = {
	subject: { type: 'user', id: 'ann@example.com' },
	action: { name: 'read' },
	resource: { type: 'document', id: 'plan' },
};

export function authzenEndpoints(mode: Mode, { publicUrl, subjectTypes }: AuthzenSettings) {
	const settings = { mode, subjectTypes: new Set(subjectTypes) };
	return [
		...evaluationEndpoints(evaluator(mode, settings.subjectTypes)),
		...searchEndpoints(settings),
		...metadataEndpoints(publicUrl),
	];
}

/** Decides an evaluation, with or without reasons. */
type Evaluate = (evaluation: Evaluation, context: DecisionContext, explain: boolean) => EvaluationResult;

/** Results without reasons. They are constants so their JSON is created only once. */
const permitted: EvaluationResult = Object.freeze({ decision: true });
const denied: EvaluationResult = Object.freeze({ decision: false });

function evaluator(mode: Mode, subjectTypes: ReadonlySet<string>): Evaluate {
	return (evaluation, context, explain) => {
		const { type, id } = evaluation.subject;
		const { facts, time } = context;
		if (!isHolder(evaluation.subject, { facts, subjectTypes })) {
			const reason = isUserSet(id)
				? `\`${type}:${id}\` is not a set of users with an assignable role`
				: `subjects of type \`${type}\` are not users`;
			return explain ? { decision: false, context: { reason } } : denied;
		}
		const stored = evaluationInput(evaluation, { facts, time, mode, subjectTypes });
		const given = evaluation.contextual_facts;
		const input = given ? withContextualFacts(context, stored, given, ['body']) : stored;
		const { allow, debug } = decide(context, input, explain);
		return explain ? { decision: allow, context: { ...(debug as object) } } : allow ? permitted : denied;
	};
}

function evaluationEndpoints(evaluate: Evaluate) {
	return [
		endpoint({
			...methods({ tag, path: authzenPaths.evaluation }).post,
			name: 'accessEvaluation',
			summary: 'Decide whether a subject may perform an action on a resource',
			description: 'A denial is a normal result. The header `X-Debug: true` adds the reasons as `context`.',
			lean: (body, { current }) => (body.contextual_facts ? declaredPath : evaluate(body, current, false)),
			access,
			body: Evaluation,
			example,
			returns: { 200: EvaluationResult },
			answerHeaders: DecidedAnswer,
			requestHeaders: ReasonsRequest,
			failures: { ...unavailable, ...contextualFactsOff },
			handle: ({ body, headers }, { now }) => {
				const context = now();
				return reply(200, evaluate(body, context, headerExplains(headers['x-debug'])), revisionHeader(context));
			},
		}),
		endpoint({
			...methods({ tag, path: authzenPaths.evaluations }).post,
			name: 'accessEvaluations',
			summary: 'Decide multiple evaluations at one revision',
			description:
				`At most ${maxEvaluations} evaluations, at most ${maxExplained} with reasons. An evaluation inherits omitted fields from the request, each as a whole. An invalid or incomplete evaluation is denied, with ` +
				'`context.error`. `options.evaluations_semantic` determines when evaluation stops. Without `evaluations`, ' +
				'the request is a single evaluation.',
			lean: (body, context) => {
				if (body.contextual_facts) return declaredPath;
				if (!('evaluations' in body)) return evaluate(body, context.current, false);
				if (body.evaluations.some((item) => item?.contextual_facts)) return declaredPath;
				const work = (current: DecisionContext) =>
					evaluatedInOrder(body, (evaluation) => evaluate(evaluation, current, false));
				return context.answer(work);
			},
			access,
			body: Evaluations,
			example: { ...example, evaluations: [{}, { action: { name: 'write' } }] },
			returns: { 200: EvaluationsResult },
			answerHeaders: DecidedAnswer,
			requestHeaders: ReasonsRequest,
			failures: { ...unavailableOrCostly, ...contextualFactsOff },
			handle: async ({ body, headers, closed }, { now, read }) => {
				const explain = headerExplains(headers['x-debug']);
				if (!('evaluations' in body)) {
					const context = now();
					return reply(200, evaluate(body, context, explain), revisionHeader(context));
				}
				if (explain && body.evaluations.length > maxExplained) refuseManyReasons(body.evaluations.length);
				const work = (context: DecisionContext) =>
					evaluatedInOrder(body, (evaluation) => evaluate(evaluation, context, explain));
				return chunkedReply(await read({ kind: 'batch', work, closed }));
			},
		}),
	];
}

const contextualFactsOff = { 403: 'The environment does not allow contextual facts' } as const;

/** Returns `EvaluationsResult` as JSON. */
function* evaluatedInOrder(
	request: SeveralEvaluations,
	evaluate: (evaluation: Evaluation) => EvaluationResult,
): Steps<readonly string[]> {
	const last = lastDecision[request.options?.evaluations_semantic ?? 'execute_all'];
	const results: string[] = [];
	const evaluatedOrRefused = (evaluation: Evaluation) => {
		try {
			return evaluate(evaluation);
		} catch (error) {
			const failure = asAuthzenFailure(error);
			if (!(failure instanceof Failure)) throw error;
			return refused(failure.status, failure.message);
		}
	};
	yield* forEachItem(request.evaluations.keys(), (index) => {
		const evaluation = evaluationAt(request, index);
		const result = 'problem' in evaluation ? refused(400, evaluation.problem) : evaluatedOrRefused(evaluation);
		results.push(JSON.stringify(result));
		return result.decision === last ? enough : undefined;
	});
	return ['{"evaluations":', ...(yield* arrayChunks(results)), '}'];
}

/** Decision after which the remaining evaluations are skipped; `null` for none. */
const lastDecision: Readonly<Record<EvaluationsSemantic, boolean | null>> = {
	execute_all: null,
	deny_on_first_deny: false,
	permit_on_first_permit: true,
};

function refused(status: number, message: string): EvaluationResult {
	return { decision: false, context: { error: { status, message } } };
}

function refuseManyReasons(asked: number): never {
	const msg = `at most ${maxExplained} evaluations per request may request reasons, got ${asked}`;
	throw unprocessable([{ loc: ['body', 'evaluations'], msg, type: 'too_many_reasons' }]);
}

function searchEndpoints(settings: Parameters<typeof searchSubjects>[2]) {
	const { subject, action, resource } = example;
	const paging = `Sorted. At most ${maxResults} results per page; \`page.next_token\` requests the next page.`;
	return [
		endpoint({
			...methods({ tag, path: authzenPaths.subject }).post,
			name: 'searchSubjects',
			summary: 'Find the users who may perform an action on a resource',
			description: `Returns stored users permitted by an evaluation with the same fields. ${paging}`,
			access,
			body: SubjectSearch,
			example: { subject: { type: subject.type }, action, resource },
			returns: { 200: FoundEntities },
			answerHeaders: DecidedAnswer,
			failures: unavailableOrCostly,
			handle: async ({ body, closed }, { read }) => {
				const work = (context: DecisionContext) => searchSubjects(context, body, settings);
				const answer = await read({ kind: 'listing', work, closed });
				return foundReply(answer, (id) => ({ type: body.subject.type, id }));
			},
		}),
		endpoint({
			...methods({ tag, path: authzenPaths.resource }).post,
			name: 'searchResources',
			summary: 'Find the instances on which a subject may perform an action',
			description:
				"Returns instances for which an evaluation with the same fields is permitted: instances in the request's " +
				`tenant, or without one, all instances, each in its own tenant. ${paging}`,
			access,
			body: ResourceSearch,
			example: { subject, action, resource: { type: resource.type } },
			returns: { 200: FoundEntities },
			answerHeaders: DecidedAnswer,
			failures: { ...unavailableOrCostly, ...contextualFactsOff },
			handle: async ({ body, closed }, { read }) => {
				const work = (context: DecisionContext) => searchResources(context, body, settings);
				const answer = await read({ kind: 'listing', work, closed });
				return foundReply(answer, (id) => ({ type: body.resource.type, id }));
			},
		}),
		endpoint({
			...methods({ tag, path: authzenPaths.action }).post,
			name: 'searchActions',
			summary: 'Find the actions that a subject may perform on a resource',
			description: `Returns actions for which an evaluation with the same fields is permitted. ${paging}`,
			access,
			body: ActionSearch,
			example: { subject, resource },
			returns: { 200: FoundActions },
			answerHeaders: DecidedAnswer,
			failures: { ...unavailableOrCostly, ...contextualFactsOff },
			handle: async ({ body, closed }, { read }) => {
				const work = (context: DecisionContext) => searchActions(context, body, settings);
				return foundReply(await read({ kind: 'listing', work, closed }), (name) => ({ name }));
			},
		}),
	];
}

/** Returns the reply to a search. The reply is short, because a page has at most `maxResults` results. */
function foundReply({ result, ...from }: ReadResult<Found>, entity: (found: string) => object): Raw {
	const results = result.found.map(entity);
	const answer = result.next === undefined ? { results } : { page: { next_token: result.next }, results };
	return chunkedReply({ ...from, result: [JSON.stringify(answer)] });
}
