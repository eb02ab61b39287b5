import { effectiveRoles as findEffectiveRoles } from '../../domain/graph/effective-roles.js';
import { reply } from '../../http/endpoint.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import { Reference } from '../../wire/common.js';
import { EffectiveRoleQuery, EffectiveRoles } from '../../wire/facts/effective-role.js';
import { EnvironmentPath, endpoint } from '../access.js';

/** User roles, with the reason for each role. */
export const effectiveRoles = [
	endpoint({
		name: 'listEffectiveRoles',
		summary: "List a user's roles in tenants and on instances, with their sources",
		description:
			'Lists assigned roles and roles derived through groups or other relationships, all at one revision. Expired ' +
			'roles are omitted. A role with several kinds of sources has one entry per kind.',
		tag: 'Effective roles',
		method: 'get',
		path: '/v2/facts/:proj_id/:env_id/users/:user_id/effective_roles',
		access: 'environment.snapshot',
		params: EnvironmentPath.extend({ user_id: Reference }),
		query: EffectiveRoleQuery,
		returns: { 200: EffectiveRoles },
		failures: { 404: 'No such user or tenant' },
		handle: async ({ params, query }, { unit, environment }) => {
			const user = await unit.find(User, params.user_id);
			const tenant = query.tenant === undefined ? null : await unit.find(Tenant, query.tenant);
			const wanted = { user_id: user.id, tenant_id: tenant?.id ?? null, limit: query.limit };
			return reply(200, { revision: environment.revision, ...(await findEffectiveRoles(unit, wanted)) });
		},
	}),
];
