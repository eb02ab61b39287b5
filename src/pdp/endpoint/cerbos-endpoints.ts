/** The part of the Cerbos API used by query plan clients. */

import type { Steps } from '../../../compiler/steps.js';
import { everyRow, noRow, type Residual } from '../../filter/residual.js';
import { simplifyResidual } from '../../filter/simplify-residual.js';
import { toCerbosPlan } from '../../filter/to-cerbos-plan.js';
import { methods, reply } from '../../http/endpoint.js';
import { usualKeys } from '../../wire/decision/filter.js';
import { CerbosChecks, CerbosResults, CerbosServer, PlanAnswer, PlanQuery } from '../../wire/decision/plan.js';
import { DecidedAnswer, FilteredAnswer } from '../../wire/headers.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normalise, normaliseFilter } from '../decide/normalise.js';
import { forEachItem } from '../engine/chunks.js';
import { valueChunks } from '../engine/json-chunks.js';
import { endpoint, filterReply, revisionHeader, unavailableOrCostly } from './endpoint.js';
import { answerFilter, orRefused } from './filter-endpoints.js';

const tag = 'Filters';
const principal = { id: 'ann@example.com', roles: ['user'] };

/** Declares the endpoints. `version` is the version of the decision point. */
export function cerbosEndpoints(mode: Mode, version: string) {
	return [planEndpoint(mode), checksEndpoint(mode), serverEndpoint(version)];
}

function planEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/api/plan/resources' }).post,
		name: 'planResources',
		summary: 'Filter the rows on which a user may perform an action, for Cerbos clients',
		description:
			'Same as `/filter`, as a Cerbos query plan. `principal.id` is the user; `principal.roles` and `policyVersion` have ' +
			'no effect, because roles come from the environment. A condition that plans cannot express exactly is rejected.',
		access: 'cerbos',
		body: PlanQuery,
		example: { principal, action: 'read', resource: { kind: 'document' } },
		returns: { 200: PlanAnswer },
		answerHeaders: FilteredAnswer,
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const actions = body.action ? [body.action] : (body.actions ?? []);
			const work = function* (context: DecisionContext) {
				const { rows, validUntil } = yield* rowsForAll(context, body, actions, mode);
				const answer = {
					requestId: body.requestId ?? '',
					action: actions[0] ?? '',
					actions,
					resourceKind: body.resource.kind,
					policyVersion: 'default',
					filter: yield* orRefused(toCerbosPlan(rows)),
					cerbosCallId: context.decisionId ?? '',
				};
				return { body: yield* valueChunks(answer), validUntil };
			};
			return filterReply(await read({ kind: 'listing', work, closed }));
		},
	});
}

/** Returns the rows on which the user may perform all actions, with the first expiry. */
function* rowsForAll(
	context: DecisionContext,
	{ principal: { id, attr }, resource }: PlanQuery,
	actions: readonly string[],
	mode: Mode,
): Steps<{ readonly rows: Residual; readonly validUntil: string | null }> {
	const parts: Residual[] = [];
	let validUntil: string | null = null;
	for (const action of actions) {
		const user = { key: id, attributes: attr };
		const input = normaliseFilter({ user, action, resource: { type: resource.kind, ...placed(resource.attr) } }, mode);
		const { type, condition, valid_until } = yield* answerFilter(context, input, {
			maxKeys: usualKeys,
			explain: false,
		});
		validUntil = earlier(validUntil, valid_until);
		if (type === 'always_deny') return { rows: noRow, validUntil };
		parts.push(condition ?? everyRow);
	}
	return { rows: yield* simplifyResidual({ kind: 'all', parts }), validUntil };
}

/** Returns the earlier of two times; `null` is never. */
function earlier(left: string | null, right: string | null): string | null {
	if (left === null || right === null) return left ?? right;
	return Date.parse(left) <= Date.parse(right) ? left : right;
}

function checksEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/api/check/resources' }).post,
		name: 'checkResources',
		summary: 'Decide actions on instances, for Cerbos clients',
		description: 'Checks in the format of Cerbos, at one revision.',
		access: 'cerbos',
		body: CerbosChecks,
		example: { principal, resources: [{ resource: { kind: 'document', id: 'plan' }, actions: ['read'] }] },
		returns: { 200: CerbosResults },
		answerHeaders: DecidedAnswer,
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const work = (context: DecisionContext) => checkAll(context, body, mode);
			const { result: results, ...from } = await read({ kind: 'batch', work, closed });
			const answer = { requestId: body.requestId ?? '', results, cerbosCallId: from.decisionId ?? '' };
			return reply(200, answer, revisionHeader(from));
		},
	});
}

function* checkAll(
	context: DecisionContext,
	{ principal: { id, attr }, resources }: CerbosChecks,
	mode: Mode,
): Steps<readonly unknown[]> {
	const results: unknown[] = [];
	yield* forEachItem(resources, ({ resource, actions }) => {
		const { kind: type, id: key } = resource;
		const user = { key: id, attributes: attr };
		const effects = actions.map((action) => {
			const query = { user, action, resource: { type, key, ...placed(resource.attr) } };
			const { allow } = decide(context, normalise(query, context.time, mode), false);
			return [action, allow ? 'EFFECT_ALLOW' : 'EFFECT_DENY'];
		});
		const named = { id: key, kind: type, policyVersion: 'default', scope: '' };
		results.push({ resource: named, actions: Object.fromEntries(effects) });
	});
	return results;
}

/** Splits the attributes of a resource into its tenant and the other attributes. */
function placed(attr: PlanQuery['resource']['attr']) {
	const { tenant, ...attributes } = attr ?? {};
	return { ...(typeof tenant === 'string' ? { tenant } : {}), attributes };
}

function serverEndpoint(version: string) {
	return endpoint({
		...methods({ tag, path: '/api/server_info' }).get,
		name: 'readServerInfo',
		summary: 'Get the version, for Cerbos clients',
		access: 'cerbos',
		returns: { 200: CerbosServer },
		handle: () => reply(200, { version, commit: '', buildDate: '' }),
	});
}
