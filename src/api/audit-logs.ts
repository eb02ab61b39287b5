import { listDecisions, readDecision } from '../domain/audit-log.js';
import { notFound } from '../failure.js';
import { methods, reply } from '../http/endpoint.js';
import type { ListedAuditLog } from '../store/audit-log/audit-logs.js';
import { Resource } from '../store/table/resource.js';
import { Tenant } from '../store/table/tenant.js';
import { User } from '../store/table/user.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import { asId, Reference } from '../wire/common.js';
import {
	AuditLogPage,
	AuditLogQuery,
	DecisionEvents,
	DetailedAuditLogModel,
	maxLoggedDecisions,
	PartlyLogged,
} from '../wire/general/audit-log.js';
import { EnvironmentPath, endpoint } from './access.js';
import { logEvents } from './log-events.js';

const tag = 'Decision log';
const collection = '/v2/pdps/:proj_id/:env_id/audit_logs';

/** The decision log: decision points upload it, and operators read it. */
export const auditLogs = [
	endpoint({
		...methods({ tag, path: '/v1/decision_logs/ingress' }).post,
		name: 'ingestDecisionLogs',
		summary: 'Upload decisions from the calling decision point',
		description:
			`At most ${maxLoggedDecisions} events in OPA's format; a stock OPA uploads them too. With the content type ` +
			'`application/x-ndjson`, the body has an event per line instead of an array. Duplicate events are ' +
			'stored once. An invalid event does not fail the batch: the response lists it, and all valid events are ' +
			'stored. 422 if no event is valid. 429 if the environment has reached its log quota; events stored before ' +
			'that remain stored.',
		access: 'environment.report',
		body: DecisionEvents,
		lines: true,
		example: [
			{
				decision_id: '0f1e5a3c-94a5-4d3c-8b0e-3d6a1c9f2b71',
				timestamp: '2026-01-31T08:00:00Z',
				path: 'regolith/check/code',
				input: { user: { key: 'ann@example.com' }, action: 'read', resource: { type: 'document', tenant: 'acme' } },
				result: { allow: false, code: 'no_permission' },
			},
		],
		returns: { 200: PartlyLogged, 204: null },
		failures: { 429: "The environment's decision log is full, or too many batches are queued for the environment" },
		handle: async ({ body, closed }, { intake, delivering, caller, account }) => {
			const logged = await delivering(closed, () => logEvents(body, caller.key_id, intake, account.clock.now()));
			const detail = logged.detail.map((problem) => ({ ...problem, loc: [...problem.loc] }));
			return logged.refused === 0 ? reply(204) : reply(200, { ...logged, detail });
		},
	}),
	endpoint({
		...methods({ tag, path: collection, params: EnvironmentPath }).get,
		name: 'listAuditLogs',
		summary: 'List decisions, newest first',
		description:
			'Decisions logged by decision points: by default all denials and one in ten permitted checks. Paging covers ' +
			'the newest 10,000 decisions that match the filters.',
		access: 'environment.read',
		query: AuditLogQuery,
		returns: { 200: AuditLogPage },
		failures: { 400: 'The page is beyond the newest 10,000 decisions', 404: 'No such project or environment' },
		handle: async ({ query }, { unit }) => reply(200, await listDecisions(unit.auditLogs(), unit.scope, query)),
	}),
	endpoint({
		...methods({ tag, path: `${collection}/:log_id`, params: EnvironmentPath.extend({ log_id: Reference }) }).get,
		name: 'getAuditLog',
		summary: 'Get a decision with its user, resource and tenant',
		access: 'environment.read',
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

/** Returns the user, resource and tenant of a decision; `null` for each object that no longer exists. */
async function namedObjects(unit: ReadingUnit, { user_key, resource_type, tenant }: ListedAuditLog) {
	const [user, resource, place] = [
		user_key === null ? undefined : (await unit.findMany(User, [user_key])).get(user_key),
		resource_type === null ? undefined : (await unit.findMany(Resource, [resource_type])).get(resource_type),
		tenant === null ? undefined : (await unit.findMany(Tenant, [tenant])).get(tenant),
	];
	return {
		user_object: user === undefined ? null : { ...user, name: user.email },
		resource_type_object: resource ?? null,
		tenant_object: place ?? null,
	};
}
