import { UserPermissions } from '../../wire/decision/check.js';
import type { Told } from '../declaration.js';
import { parseResource } from '../resource-word.js';
import { askFor } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';

export interface CanOptions extends SharedOptions {
	/** Resource type or instance. */
	readonly resource?: string;
}

/** Lists a user's permissions, in tenants and on instances. */
export async function can({ decisionPoint }: Session, { tenant, resource }: CanOptions, user: string): Promise<Told> {
	const wanted = resource === undefined ? null : parseResource(resource);
	const body = {
		user,
		tenants: tenant === undefined ? undefined : [tenant],
		resources: wanted?.key === undefined ? undefined : [resource],
		resource_types: wanted === null ? undefined : [wanted.type],
		// Includes instances on which only conditions grant permissions.
		context: { enable_abac_user_permissions: true },
	};
	const answer = await askFor(decisionPoint, '/user-permissions', UserPermissions, { method: 'POST', body });
	const objects = Object.values(answer.body).map(({ tenant: home, resource: instance, permissions, roles }) => ({
		tenant: home.key,
		resource: instance === undefined ? null : `${instance.type}:${instance.key}`,
		roles,
		permissions,
	}));
	const rows = objects.map(({ tenant: home, resource: instance, roles, permissions }) => [
		home,
		instance ?? '-',
		roles.join(' ') || '-',
		permissions.join(' ') || '-',
	]);
	return {
		text:
			rows.length === 0
				? `${visible(user)} has no permissions\n`
				: table(['TENANT', 'RESOURCE', 'ROLES', 'PERMISSIONS'], rows),
		json: { user, revision: answer.revision, objects },
	};
}
