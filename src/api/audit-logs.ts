import { auditLogRow, listDecisions, readDecision } from '../domain/audit-log.js';
import { Failure, notFound } from '../failure.js';
import { reply } from '../http/endpoint.js';
import type { ListedAuditLog } from '../store/table/audit-logs.js';
import { Resource } from '../store/table/resource.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import {
	AuditLogPage,
	AuditLogQuery,
	DecisionEvents,
	DetailedAuditLogModel,
	maxLoggedDecisions,
} from '../wire/audit-log.js';
import { asId, Reference } from '../wire/common.js';
import { EnvironmentPath, endpoint } from './access.js';

const tag = 'Decision log';
const collection = '/v2/pdps/:proj_id/:env_id/audit_logs';

/** The decision log: uploaded by decision points, read by operators (contract: Decision logs). */
export const auditLogs = [
	endpoint({
		name: 'ingestDecisionLogs',
		summary: 'Upload decisions of the calling decision point',
		description:
			`At most ${maxLoggedDecisions} events in OPA's format; a stock OPA uploads them too. Events that are sent again are ` +
			'kept once. 507 while there is no room for more.',
		tag,
		method: 'post',
		path: '/v1/decision_logs/ingress',
		access: 'environment.own',
		body: DecisionEvents,
		example: [
			{
				decision_id: '0f1e5a3c-94a5-4d3c-8b0e-3d6a1c9f2b71',
				timestamp: '2026-01-31T08:00:00Z',
				path: 'regolith/check/code',
				input: { user: { key: 'ann@example.com' }, action: 'read', resource: { type: 'document', tenant: 'acme' } },
				result: { allow: false, code: 'no_permission' },
			},
		],
		returns: { 204: null },
		failures: { 507: 'The decision log is full' },
		handle: async ({ body }, { auditLogs: logs, caller, account }) => {
			if (logs.full) throw new Failure('no_space', 'the decision log is full (AUDIT_LOG_MAX_SIZE)');
			await logs.add(
				body.map((event) => auditLogRow(event, caller.key_id)),
				account.clock.now(),
			);
			return reply(204);
		},
	}),
	endpoint({
		name: 'listAuditLogs',
		summary: 'List decisions, the newest first',
		description:
			'What decision points logged: by default all denials and one in ten of what was allowed. The newest 10,000 that pass ' +
			'the filters can be paged through.',
		tag,
		method: 'get',
		path: collection,
		access: 'environment.read',
		params: EnvironmentPath,
		query: AuditLogQuery,
		returns: { 200: AuditLogPage },
		failures: { 400: 'The page is beyond what can be paged through', 404: 'No such project or environment' },
		handle: async ({ query }, { unit }) => reply(200, await listDecisions(unit.auditLogs(), unit.scope, query)),
	}),
	endpoint({
		name: 'getAuditLog',
		summary: 'One decision, with what it names',
		tag,
		method: 'get',
		path: `${collection}/:log_id`,
		access: 'environment.read',
		params: EnvironmentPath.extend({ log_id: Reference }),
		returns: { 200: DetailedAuditLogModel },
		failures: { 404: 'No such project, environment or decision' },
		handle: async ({ params }, { unit }) => {
			const id = asId(params.log_id);
			const row = id === null ? undefined : await unit.auditLogs().find(id);
			if (row === undefined) throw notFound('AuditLog', params.log_id);
			return reply(200, { ...readDecision(row, unit.scope), objects: await namedObjects(unit, row) });
		},
	}),
];

/** What a decision names, as far as it is there now. */
async function namedObjects(unit: ReadingUnit, { user_key, resource_type, tenant }: ListedAuditLog) {
	const [user, resource, place] = [
		user_key === null ? undefined : (await unit.findMany(User, [user_key])).get(user_key),
		resource_type === null ? undefined : (await unit.findMany(Resource, [resource_type])).get(resource_type),
		tenant === null ? undefined : (await unit.findMany(Tenant, [tenant])).get(tenant),
	];
	return {
		user_object: user === undefined ? null : { id: user.id, key: user.key, name: user.email },
		resource_type_object: resource === undefined ? null : { id: resource.id, key: resource.key, name: resource.name },
		tenant_object: place === undefined ? null : { id: place.id, key: place.key, name: place.name },
	};
}
