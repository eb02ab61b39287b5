/** Endpoints for Trino's OPA plugin. */

import { reply } from '../../http/endpoint.js';
import { TrinoAnswer, TrinoColumnMasks, TrinoQuery, TrinoRowFilters } from '../../wire/decision/gateway.js';
import { DecidedAnswer } from '../../wire/headers.js';
import type { Mode } from '../decide/normalise.js';
import { endpoint, revisionHeader, unavailableOrCostly } from '../endpoint/endpoint.js';
import type { TrinoRules } from './gateway-settings.js';
import { allowedInTrino, columnMasks, rowFilters } from './trino.js';

const table = { catalogName: 'lake', schemaName: 'sales', tableName: 'orders' };
const context = { identity: { user: 'ann@example.com', groups: [] }, softwareStack: { trinoVersion: '476' } };

/** Settings shared by the three endpoints. */
const shared = {
	tag: 'Gateways',
	method: 'post',
	access: 'trino',
	body: TrinoQuery,
	answerHeaders: DecidedAnswer,
	failures: unavailableOrCostly,
} as const;

export function trinoEndpoints(mode: Mode, rules: TrinoRules) {
	return [
		endpoint({
			...shared,
			name: 'checkForTrino',
			summary: 'Decide an operation in Trino',
			description:
				'Each object is a separate resource type, such as `trino_table_<catalog>_<schema>_<table>`, and the ' +
				'operation is the action. If an operation on a table is denied, every listed column is checked, and all ' +
				'columns must be allowed. With `filterResources`, the response lists the indexes of allowed resources; ' +
				'`FilterColumns` for one table lists the indexes of allowed columns.',
			path: '/trino/allowed',
			example: { input: { context, action: { operation: 'SelectFromColumns', resource: { table } } } },
			returns: { 200: TrinoAnswer },
			handle: async ({ body, closed }, { read }) => {
				const { result, ...from } = await read({
					kind: 'batch',
					work: (decided) => allowedInTrino(decided, body, mode),
					closed,
				});
				return reply(200, { result }, revisionHeader(from));
			},
		}),
		endpoint({
			...shared,
			name: 'listRowFiltersForTrino',
			summary: 'List row filters for a Trino table',
			description: 'Returns the configured filters whose action the user may perform on the table.',
			path: '/trino/row-filter',
			example: { input: { context, action: { operation: 'GetRowFilters', resource: { table } } } },
			returns: { 200: TrinoRowFilters },
			handle: async ({ body, closed }, { read }) => {
				const { result, ...from } = await read({
					kind: 'batch',
					work: (decided) => rowFilters(decided, body, mode, rules),
					closed,
				});
				return reply(200, { result: [...result] }, revisionHeader(from));
			},
		}),
		endpoint({
			...shared,
			name: 'listColumnMasksForTrino',
			summary: 'List column masks for Trino',
			description:
				'Returns for each column the first configured mask whose action the user may perform on the table or the column.',
			path: '/trino/batch-column-masking',
			example: {
				input: {
					context,
					action: {
						operation: 'GetColumnMask',
						filterResources: [{ column: { ...table, columnName: 'price', columnType: 'decimal' } }],
					},
				},
			},
			returns: { 200: TrinoColumnMasks },
			handle: async ({ body, closed }, { read }) => {
				const { result, ...from } = await read({
					kind: 'batch',
					work: (decided) => columnMasks(decided, body, mode, rules),
					closed,
				});
				return reply(200, { result: [...result] }, revisionHeader(from));
			},
		}),
	];
}
