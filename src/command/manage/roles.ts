import { z } from 'zod';
import { ConfigError } from '../../config.js';
import { RoleAssignmentRead } from '../../wire/facts/role-assignment.js';
import type { Told } from '../declaration.js';
import { askFor, askForAll, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';

/** Role fields to show. */
const Role = z.object({
	key: z.string(),
	name: z.string(),
	permissions: z.array(z.string()).nullable(),
	extends: z.array(z.string()),
});
const Resource = z.object({ key: z.string(), roles: z.record(z.string(), Role) });
const Named = z.object({ key: z.string() });
const Assignment = RoleAssignmentRead.pick({
	role: true,
	tenant: true,
	resource_instance: true,
	expires_at: true,
	condition: true,
});

/** Lists a user's roles, or all defined roles if there is no user. */
export async function roles(session: Session, options: SharedOptions, user?: string): Promise<Told> {
	if (user !== undefined) return assignedRoles(session, options, user);
	if (options.tenant !== undefined) {
		throw new ConfigError(
			'--tenant: requires a user. Without a user, the command lists the roles defined for all tenants',
		);
	}
	return definedRoles(session);
}

async function definedRoles(session: Session): Promise<Told> {
	const { api } = session;
	const { project, environment } = await session.place();
	const inTenants = await askForAll(api, path`/v2/schema/${project}/${environment}/roles`, Role);
	const resources = await askForAll(api, path`/v2/schema/${project}/${environment}/resources`, Resource);
	const all = [
		...inTenants.map((role) => ({ role, resource: null })),
		...resources.flatMap(({ key, roles: own }) => Object.values(own).map((role) => ({ role, resource: key }))),
	].map(({ role, resource }) => ({
		role: role.key,
		resource,
		name: role.name,
		permissions: role.permissions ?? [],
		extends: role.extends,
	}));
	const rows = all.map(({ role, resource, name, permissions, extends: parents }) => [
		resource === null ? role : `${resource}#${role}`,
		name,
		permissions.join(' ') || '-',
		parents.join(' ') || '-',
	]);
	const none = 'no roles are defined\n';
	return {
		text: rows.length === 0 ? none : table(['ROLE', 'NAME', 'PERMISSIONS', 'EXTENDS'], rows),
		json: { roles: all },
	};
}

async function assignedRoles(session: Session, { tenant }: SharedOptions, user: string): Promise<Told> {
	const { api } = session;
	const { project, environment } = await session.place();
	const facts = path`/v2/facts/${project}/${environment}`;
	// A user without assignments has an empty list, but an unknown user or tenant is an error.
	const { key } = (await askFor(api, facts + path`/users/${user}`, Named)).body;
	if (tenant !== undefined) await askFor(api, facts + path`/tenants/${tenant}`, Named);
	const assigned = await askForAll(api, `${facts}/role_assignments`, Assignment, { user, tenant });
	const given = assigned.map(({ role, tenant: home, resource_instance, expires_at = null, condition }) => ({
		role,
		tenant: home,
		resource_instance,
		expires_at,
		...(condition !== undefined && { condition }),
	}));
	const rows = given.map(({ role, tenant: home, resource_instance, expires_at, condition }) => [
		condition === undefined ? role : `${role} under ${condition.set}`,
		home,
		resource_instance ?? '-',
		expires_at ?? '-',
	]);
	const none = `${visible(key)} has no roles\n`;
	return {
		text: rows.length === 0 ? none : table(['ROLE', 'TENANT', 'RESOURCE', 'EXPIRES'], rows),
		json: { user: key, roles: given },
	};
}
