/** Single and bulk checks. */

import type { Steps } from '../../../compiler/steps.js';
import { unprocessable } from '../../failure.js';
import { declaredPath, methods, reply } from '../../http/endpoint.js';
import { AuthorizationResult, BulkQuery, BulkResult, maxBulkChecks, Query } from '../../wire/decision/check.js';
import { AttemptsRequest, DecidedAnswer, ReasonsRequest } from '../../wire/headers.js';
import { decideWithAttempts } from '../attempt/attempts.js';
import { type CheckPlace, checkInput } from '../decide/contextual-facts.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise } from '../decide/normalise.js';
import { forEachItem } from '../engine/chunks.js';
import { arrayChunks } from '../engine/json-chunks.js';
import { chunkedReply, endpoint, revisionHeader, unavailableOrCostly } from './endpoint.js';

/** Maximum number of checks with reasons per request. Finding the reasons takes a hundred times longer than a check. */
export const maxExplained = 1_000;

export function decisionEndpoints(mode: Mode) {
	const tag = 'Decisions';
	const example = { user: 'ann@example.com', action: 'read', resource: { type: 'document', tenant: 'acme' } };
	const decided = (query: Query, context: DecisionContext, header: string | undefined, place?: CheckPlace) =>
		decide(context, checkInput(context, query, mode, place), explains(query, header));
	return [
		endpoint({
			...methods({ tag, path: '/allowed' }).post,
			name: 'check',
			summary: 'Decide whether a user may perform an action on a resource',
			description:
				'A denial is a normal result. `use_debugger` or the header `X-Debug: true` adds the reasons. The value ' +
				'`attempts` in place of `true` also adds the attempts: the ways for the check to pass, now or after ' +
				'changes.',
			lean: (body, { current }) => (isLean(body) ? decided(body, current, undefined) : declaredPath),
			access: 'key',
			body: Query,
			example,
			returns: { 200: AuthorizationResult },
			answerHeaders: DecidedAnswer,
			requestHeaders: AttemptsRequest,
			failures: unavailableOrCostly,
			handle: (request, { now, read }) => {
				const { body, headers } = request;
				const header = headers['x-debug'];
				if (!asksForAttempts(body, header)) {
					const context = now();
					return reply(200, decided(body, context, header), revisionHeader(context));
				}
				if (body.contextual_facts) {
					checkInput(now(), body, mode);
					refuseAttempts();
				}
				if ('set' in body.user) checkInput(now(), body, mode);
				const work = (context: DecisionContext) => decideWithAttempts(context, normalise(body, context.time, mode));
				// `closed` is read only at this point, because creating the signal takes longer than a check.
				const { closed } = request;
				return read({ kind: 'batch', work, closed }).then(({ result, ...from }) =>
					reply(200, result, revisionHeader(from)),
				);
			},
		}),
		endpoint({
			...methods({ tag, path: '/allowed/bulk' }).post,
			name: 'checkMany',
			summary: 'Decide multiple checks at one revision',
			description: `At most ${maxBulkChecks} checks, at most ${maxExplained} with reasons. A new revision waits up to a second for running checks. Checks that take longer restart once at the new revision; after a second interruption, the request returns 503.`,
			lean: (body, context) => {
				if (!body.every(isLean)) return declaredPath;
				return context.answer((current) => decidedAll(body, (query) => decided(query, current, undefined)));
			},
			access: 'key',
			body: BulkQuery,
			example: [example],
			returns: { 200: BulkResult },
			answerHeaders: DecidedAnswer,
			requestHeaders: ReasonsRequest,
			failures: unavailableOrCostly,
			handle: async ({ body, headers, closed }, { read }) => {
				if (body.length > maxExplained) refuseManyReasons(body, (query) => explains(query, headers['x-debug']));
				const work = (context: DecisionContext) =>
					decidedAll(body, (query, index) => decided(query, context, headers['x-debug'], ['body', index]));
				return chunkedReply(await read({ kind: 'batch', work, closed }));
			},
		}),
	];
}

/**
 * True if a check requests reasons, in its body or else in the `X-Debug` header. A request for attempts includes the
 * reasons.
 */
export function explains({ use_debugger }: Pick<Query, 'use_debugger'>, header: string | undefined): boolean {
	return (use_debugger ?? headerExplains(header)) !== false;
}

/** True if a check also requests attempts, in its body or else in the `X-Debug` header. */
export function asksForAttempts({ use_debugger }: Pick<Query, 'use_debugger'>, header: string | undefined): boolean {
	return (use_debugger ?? header?.toLowerCase()) === 'attempts';
}

/** True if the lean path may decide a check. */
function isLean({ user, use_debugger, contextual_facts }: Query): boolean {
	return !use_debugger && !contextual_facts && !('set' in user);
}

function refuseAttempts(): never {
	const msg = 'attempts are not available for checks with contextual facts: request only the reasons';
	throw unprocessable([{ loc: ['body', 'contextual_facts'], msg, type: 'not_supported' }]);
}

/** Returns `BulkResult` as JSON. */
function* decidedAll(
	queries: readonly Query[],
	decided: (query: Query, index: number) => AuthorizationResult,
): Steps<readonly string[]> {
	const results: string[] = [];
	yield* forEachItem(queries.entries(), ([index, query]) => results.push(JSON.stringify(decided(query, index))));
	return ['{"allow":', ...(yield* arrayChunks(results)), '}'];
}

function refuseManyReasons(queries: readonly Query[], explains: (query: Query) => boolean): void {
	const asked = queries.filter(explains).length;
	if (asked <= maxExplained) return;
	const msg = `at most ${maxExplained} checks per request may request reasons, got ${asked}`;
	throw unprocessable([{ loc: ['body'], msg, type: 'too_many_reasons' }]);
}

/** True if the `X-Debug` header requests reasons. */
export function headerExplains(header: string | undefined): boolean {
	return header !== undefined && ['true', 'attempts'].includes(header.toLowerCase());
}
