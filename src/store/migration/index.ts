import type { Knex } from 'knex';
import { up as foundation } from './0001-foundation.js';
import { up as relationships } from './0002-relationships.js';
import { up as decisionPoints } from './0003-decision-points.js';
import { up as invitesAndProxies } from './0004-invites-and-proxies.js';
import { up as copyTasks } from './0005-copy-tasks.js';
import { up as groups } from './0006-groups.js';
import { up as questionsOfDeltas } from './0007-questions-of-deltas.js';
import { up as policyHistory } from './0008-policy-history.js';
import { up as conditionSets } from './0009-condition-sets.js';
import { up as policyInForce } from './0010-policy-in-force.js';
import { up as schemasOfPolicies } from './0011-schemas-of-policies.js';
import { up as checkBounds } from './0012-check-bounds.js';
import { up as elements } from './0013-elements.js';
import { up as elementSessions } from './0014-element-sessions.js';
import { up as elementRequests } from './0015-element-requests.js';
import { up as expiringGrants } from './0016-expiring-grants.js';
import { up as elementInvites } from './0017-element-invites.js';
import { up as webhookDeliveries } from './0018-webhook-deliveries.js';
import { up as consumedApprovals } from './0019-consumed-approvals.js';
import { up as endingInvites } from './0020-ending-invites.js';
import { up as auditLogs } from './0021-audit-logs.js';
import { up as deletedEnvironments } from './0022-deleted-environments.js';
import { up as firstKey } from './0023-first-key.js';
import { up as consoleSessions } from './0024-console-sessions.js';
import { up as changesOfDocuments } from './0025-changes-of-documents.js';
import { up as tenantRoles } from './0026-tenant-roles.js';
import { up as codesOfDecisions } from './0027-codes-of-decisions.js';
import { up as lineages } from './0028-lineages.js';
import { up as auditLogUsage } from './0029-audit-log-usage.js';
import { up as refreshes } from './0030-refreshes.js';

/** Every migration in order. Released migrations never change; each runs once, in a separate transaction. */
const migrations = [
	{ name: '0001-foundation', up: foundation },
	{ name: '0002-relationships', up: relationships },
	{ name: '0003-decision-points', up: decisionPoints },
	{ name: '0004-invites-and-proxies', up: invitesAndProxies },
	{ name: '0005-copy-tasks', up: copyTasks },
	{ name: '0006-groups', up: groups },
	{ name: '0007-questions-of-deltas', up: questionsOfDeltas },
	{ name: '0008-policy-history', up: policyHistory },
	{ name: '0009-condition-sets', up: conditionSets },
	{ name: '0010-policy-in-force', up: policyInForce },
	{ name: '0011-schemas-of-policies', up: schemasOfPolicies },
	{ name: '0012-check-bounds', up: checkBounds },
	{ name: '0013-elements', up: elements },
	{ name: '0014-element-sessions', up: elementSessions },
	{ name: '0015-element-requests', up: elementRequests },
	{ name: '0016-expiring-grants', up: expiringGrants },
	{ name: '0017-element-invites', up: elementInvites },
	{ name: '0018-webhook-deliveries', up: webhookDeliveries },
	{ name: '0019-consumed-approvals', up: consumedApprovals },
	{ name: '0020-ending-invites', up: endingInvites },
	{ name: '0021-audit-logs', up: auditLogs },
	{ name: '0022-deleted-environments', up: deletedEnvironments },
	{ name: '0023-first-key', up: firstKey },
	{ name: '0024-console-sessions', up: consoleSessions },
	{ name: '0025-changes-of-documents', up: changesOfDocuments },
	{ name: '0026-tenant-roles', up: tenantRoles },
	{ name: '0027-codes-of-decisions', up: codesOfDecisions },
	{ name: '0028-lineages', up: lineages },
	{ name: '0029-audit-log-usage', up: auditLogUsage },
	{ name: '0030-refreshes', up: refreshes },
] as const;

type Migration = (typeof migrations)[number];

/** Passes migrations to knex as code, so they are typed and work from any folder. */
export const migrationSource: Knex.MigrationSource<Migration> = {
	getMigrations: async () => [...migrations],
	getMigrationName: (migration) => migration.name,
	getMigration: async (migration) => ({
		up: migration.up,
		down: async () => {
			throw new Error(`${migration.name} cannot be undone: restore a backup`);
		},
	}),
};
