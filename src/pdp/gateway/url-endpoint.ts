/** Checks for requests to URLs. Mapping rules in proxy configs map a request to an action on a resource. */

import type { Steps } from '../../../compiler/steps.js';
import { methods } from '../../http/endpoint.js';
import type { Logger } from '../../log.js';
import { type AuthorizationResult, type Query, UrlAuthorizationResult, UrlQuery } from '../../wire/decision/check.js';
import { AttemptsRequest, DecidedAnswer } from '../../wire/headers.js';
import { decideWithAttempts } from '../attempt/attempts.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise } from '../decide/normalise.js';
import { asksForAttempts, explains } from '../endpoint/decision-endpoints.js';
import { chunkedReply, endpoint, unavailableOrCostly } from '../endpoint/endpoint.js';
import type { MappingRule } from '../facts/mapping-rules.js';
import { PatternThread } from './pattern-thread.js';
import { type UrlAttributes, type UrlPattern, urlPattern } from './url-pattern.js';

/** Code for requests without a matching rule. */
export const noMatchingRule = 'no_matching_mapping_rule';

/**
 * Maximum number of expressions matched in the thread per request. If a request needs more matches, it matches no rule.
 */
const maxAsked = 100;

/** Known match result for a rule: no match, or the thread's reply. */
type Known = UrlAttributes | null | 'late';

/** A response, or an expression to match before the request can be decided. */
type Found = { readonly result: AuthorizationResult } | { readonly ask: MappingRule; readonly source: string };

export interface UrlEndpointOptions {
	readonly mode: Mode;
	readonly log: Logger;
	/** Time limit for a regular expression in the thread, in milliseconds; 20 by default. */
	readonly patternLimit?: number;
}

/** Declares the check for URL requests. */
export function urlEndpoints({ mode, log, patternLimit }: UrlEndpointOptions) {
	const thread = new PatternThread({ log, ...(patternLimit === undefined ? {} : { limit: patternLimit }) });
	return [
		endpoint({
			...methods({ tag: 'Decisions', path: '/allowed_url' }).post,
			name: 'checkUrl',
			summary: 'Decide whether a user may send a request to a URL',
			description:
				'The mapping rules in proxy configs map the request to an action and a resource. The matching rule with the ' +
				'highest `priority` applies. Parts in braces and named groups become resource attributes. A request without ' +
				`a matching rule is denied with the code \`${noMatchingRule}\`.`,
			access: 'key',
			body: UrlQuery,
			example: {
				user: 'ann@example.com',
				http_method: 'GET',
				url: 'https://api.example.com/documents/plan',
				tenant: 'acme',
			},
			returns: { 200: UrlAuthorizationResult },
			answerHeaders: DecidedAnswer,
			requestHeaders: AttemptsRequest,
			failures: unavailableOrCostly,
			handle: async ({ body, headers, closed }, { read }) => {
				const known = new Map<MappingRule, Known>();
				const request = { body, mode, known, asked: headers['x-debug'] };
				for (let questions = 0; ; questions += 1) {
					const { result: found, ...from } = await read({
						kind: 'batch',
						work: (context) => decideUrl(context, request),
						closed,
					});
					if ('result' in found) return chunkedReply({ ...from, result: [JSON.stringify(found.result)] });
					const { ask, source } = found;
					known.set(ask, questions < maxAsked ? await thread.match(source, body.url) : 'late');
				}
			},
		}),
	];
}

interface UrlRequest {
	readonly body: UrlQuery;
	readonly mode: Mode;
	/** Match results so far, to avoid repeated matches in the next round. */
	readonly known: Map<MappingRule, Known>;
	/** `X-Debug` header value. */
	readonly asked: string | undefined;
}

/**
 * Finds the matching rule and decides its check, at a single revision. INVARIANT: a rule is only applied if all rules
 * before it are known not to match, so nobody can bypass a rule by making its match late or ambiguous.
 */
function* decideUrl(context: DecisionContext, { body, mode, known, asked }: UrlRequest): Steps<Found> {
	if (context.denial !== undefined) return { result: unmatched(context, body) };
	for (const rule of context.facts.mappingRules.forMethod(body.http_method)) {
		if (known.get(rule) === null) continue;
		// A single expression may use up a whole slice.
		yield;
		const pattern = patternFor(rule);
		const attributes = pattern.kind === 'linear' ? pattern.match(body.url) : known.get(rule);
		if (attributes === undefined && pattern.kind === 'backtracking') return { ask: rule, source: pattern.source };
		if (attributes === 'late' || attributes === 'ambiguous') break;
		if (attributes === null) known.set(rule, null);
		if (attributes) {
			const query = mapped(body, rule, attributes);
			const input = normalise(query, context.time, mode);
			if (asksForAttempts(body, asked)) return { result: yield* decideWithAttempts(context, input) };
			return { result: decide(context, input, explains(body, asked)) };
		}
	}
	return { result: unmatched(context, body) };
}

/** Patterns, keyed by rule. Created on first use, because compiling a regular expression takes a while. */
const patterns = new WeakMap<MappingRule, UrlPattern>();

function patternFor(rule: MappingRule): UrlPattern {
	const known = patterns.get(rule) ?? urlPattern(rule.url, rule.isRegex);
	patterns.set(rule, known);
	return known;
}

/** Returns the check for a request that matches a rule. */
function mapped({ user, context, sdk, tenant }: UrlQuery, rule: MappingRule, attributes: UrlAttributes): Query {
	return { user, action: rule.action, resource: { type: rule.resource, tenant, attributes }, context, sdk };
}

/**
 * Returns the denial for a request that matches no rule or cannot be decided. Logs the request as a check on the URL.
 */
function unmatched(context: DecisionContext, { use_debugger: _, ...query }: UrlQuery): AuthorizationResult {
	const { log, revision, time, record } = context;
	const { user, http_method, url, tenant } = query;
	const code = context.denial ?? noMatchingRule;
	record?.({ user: { key: user.key }, action: http_method, resource: { type: url, tenant }, time }, code, 0);
	const what = { user: user.key, action: http_method, resource: url, tenant };
	log.debug({ event: 'decision', allow: false, code, revision, ...what }, 'decision');
	const reason = "no mapping rule matches the request's method and URL";
	const debug = context.denial === undefined ? { code, reason } : { code };
	return { allow: false, result: false, query, debug };
}
