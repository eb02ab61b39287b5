/** Data filters. */

import type { Steps } from '../../../compiler/steps.js';
import { unprocessable } from '../../failure.js';
import { ColumnMappingError } from '../../filter/column-mapping.js';
import { FilterRefusal } from '../../filter/residual.js';
import { writePermitFilter } from '../../filter/write-permit-filter.js';
import { methods } from '../../http/endpoint.js';
import { CompiledPatterns } from '../../pattern/compiled-patterns.js';
import {
	FilterAnswer,
	FilterKeys,
	FilterKeysQuery,
	FilterQuery,
	PermitFilter,
	usualKeys,
} from '../../wire/decision/filter.js';
import { DecidedAnswer, FilteredAnswer, ReasonsRequest } from '../../wire/headers.js';
import { filterInput } from '../decide/contextual-facts.js';
import type { DecisionContext } from '../decide/decide.js';
import type { FilterInput, Mode } from '../decide/normalise.js';
import { valueChunks } from '../engine/json-chunks.js';
import { type Filter, type FilterOptions, filterRows, refusalFailure } from '../filter/filter.js';
import { filterKeys } from '../filter/filter-keys.js';
import { headerExplains } from './decision-endpoints.js';
import { chunkedReply, endpoint, filterReply, unavailableOrCostly } from './endpoint.js';

const tag = 'Filters';
const example = { user: 'ann@example.com', action: 'read', resource: { type: 'document' } };

/** Declares the endpoints for data filters. */
export function filterEndpoints(mode: Mode) {
	return [filterEndpoint(mode), keysEndpoint(mode), permitEndpoint(mode)];
}

function filterEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/filter' }).post,
		name: 'filter',
		summary: 'Filter the rows on which a user may perform an action',
		description:
			"Returns a condition for the application's query. A row satisfies the condition if the check with the row's key, " +
			'tenant and attributes is allowed. Tenant roles become tenants, roles on instances become keys, and condition ' +
			'sets become comparisons of attributes. An unknown type, action or tenant is a normal `always_deny`. The header ' +
			'`X-Debug: true` adds the grant behind each branch.',
		access: 'key',
		body: FilterQuery,
		example,
		returns: { 200: FilterAnswer },
		answerHeaders: DecidedAnswer,
		requestHeaders: ReasonsRequest,
		failures: unavailableOrCostly,
		handle: async ({ body, headers, closed }, { read }) => {
			const options = { maxKeys: body.max_keys ?? usualKeys, explain: headerExplains(headers['x-debug']) };
			const work = function* (context: DecisionContext) {
				return yield* valueChunks(yield* answerFilter(context, filterInput(context, body, mode), options));
			};
			return chunkedReply(await read({ kind: 'listing', work, closed }));
		},
	});
}

function keysEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/filter/keys' }).post,
		name: 'listFilterKeys',
		summary: 'List the keys of a filter in pages',
		description:
			'For filters with more than `max_keys` keys. A row satisfies the filter if it satisfies `rest`, or ' +
			'if its tenant and key are on one of the pages. All pages come from one revision. If the revision ' +
			'changes or a fact expires between two pages, the response is 409.',
		access: 'key',
		body: FilterKeysQuery,
		example,
		returns: { 200: FilterKeys },
		answerHeaders: DecidedAnswer,
		failures: {
			...unavailableOrCostly,
			400: 'The cursor belongs to a different request',
			409: 'The revision has changed, or a fact has expired, since the first page',
		},
		handle: async ({ body, closed }, { read }) => {
			const { matches } = new CompiledPatterns();
			const options = { limit: body.limit ?? usualKeys, cursor: body.cursor ?? undefined, matches };
			const work = function* (context: DecisionContext) {
				return yield* valueChunks(yield* filterKeys(context, filterInput(context, body, mode), options));
			};
			return chunkedReply(await read({ kind: 'listing', work, closed }));
		},
	});
}

function permitEndpoint(mode: Mode) {
	return endpoint({
		...methods({ tag, path: '/filter_resources' }).post,
		name: 'filterResources',
		summary: 'Filter the rows on which a user may perform an action, for permit-datafilter',
		description:
			'Same as `/filter`, in the format of the plugin `permit-datafilter`. The format has no lists, so each key is a ' +
			`separate comparison. A filter with more than ${usualKeys} keys, or with a condition that the format cannot ` +
			'express exactly, is rejected.',
		access: 'key',
		body: FilterQuery,
		example,
		returns: { 200: PermitFilter },
		answerHeaders: FilteredAnswer,
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const options = { maxKeys: body.max_keys ?? usualKeys, explain: false };
			const work = function* (context: DecisionContext) {
				const {
					type,
					condition: rows,
					valid_until: validUntil,
				} = yield* answerFilter(context, filterInput(context, body, mode), options);
				const condition = rows && (yield* orRefused(writePermitFilter(rows)));
				return { body: yield* valueChunks({ type, condition }), validUntil };
			};
			return filterReply(await read({ kind: 'listing', work, closed }));
		},
	});
}

/** Calculates a filter. Supports regular expressions in conditions. */
export function answerFilter(
	context: DecisionContext,
	input: FilterInput,
	options: Omit<FilterOptions, 'matches'>,
): Steps<Filter> {
	return filterRows(context, input, { ...options, matches: new CompiledPatterns().matches });
}

/**
 * Returns the result of writing a filter in a different format. Throws `Failure` (`unprocessable`) if the format cannot
 * express the filter, or if the column names are invalid.
 */
export function* orRefused<T>(steps: Steps<T>): Steps<T> {
	try {
		return yield* steps;
	} catch (error) {
		if (error instanceof FilterRefusal) throw refusalFailure(error);
		if (!(error instanceof ColumnMappingError)) throw error;
		throw unprocessable(error.problems.map((msg) => ({ loc: ['body', 'options'], msg, type: 'invalid_column' })));
	}
}
