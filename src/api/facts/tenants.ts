import { defined } from '../../domain/defined.js';
import { removeTenant } from '../../domain/tenant.js';
import { reply } from '../../http/endpoint.js';
import { pageOf } from '../../store/filter.js';
import { Tenant, tenantsBy } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit.js';
import { Reference } from '../../wire/common.js';
import { arrayOrPaginated } from '../../wire/list.js';
import { attributeFilterText } from '../../wire/query.js';
import { TenantCreate, TenantQuery, TenantRead, TenantUpdate } from '../../wire/tenant.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listed, shown } from '../listed.js';

const tag = 'Tenants';
const collection = '/v2/facts/:proj_id/:env_id/tenants';
const member = `${collection}/:tenant_id`;

/** The path parameters of one tenant. */
export const TenantPath = EnvironmentPath.extend({ tenant_id: Reference });

/** Tenants of the application (contract: Tenants). */
export const tenants = [
	endpoint({
		name: 'listTenants',
		summary: 'List tenants',
		description: attributeFilterText,
		tag,
		method: 'get',
		path: collection,
		access: 'environment.read',
		params: EnvironmentPath,
		query: TenantQuery,
		returns: { 200: arrayOrPaginated(TenantRead) },
		handle: async ({ query }, { unit }) => {
			const page = await pageOf(tenantsBy(unit, query), query);
			const items = page.data.map((tenant) => readTenant(unit, tenant));
			return reply(200, listed(shown(page, items), query.include_total_count));
		},
	}),
	endpoint({
		name: 'createTenant',
		summary: 'Create a tenant',
		tag,
		method: 'post',
		path: collection,
		access: 'environment.write',
		params: EnvironmentPath,
		body: TenantCreate,
		example: { key: 'acme', name: 'Acme Inc.' },
		returns: { 200: TenantRead },
		failures: { 409: 'A tenant with this key exists' },
		handle: async ({ body }, { unit }) => {
			const tenant = await unit.create(Tenant, { ...defined(body), last_action_at: unit.now }, body.key);
			return reply(200, readTenant(unit, tenant));
		},
	}),
	endpoint({
		name: 'getTenant',
		summary: 'One tenant',
		tag,
		method: 'get',
		path: member,
		access: 'environment.read',
		params: TenantPath,
		returns: { 200: TenantRead },
		failures: { 404: 'No such tenant' },
		handle: async ({ params }, { unit }) => reply(200, readTenant(unit, await unit.find(Tenant, params.tenant_id))),
	}),
	endpoint({
		name: 'updateTenant',
		summary: 'Change fields of a tenant',
		description: 'Null clears a field; `attributes`, where given, are overwritten as a whole.',
		tag,
		method: 'patch',
		path: member,
		access: 'environment.write',
		params: TenantPath,
		body: TenantUpdate,
		example: { name: 'Acme Ltd.' },
		returns: { 200: TenantRead },
		failures: { 404: 'No such tenant' },
		handle: async ({ params, body }, { unit }) => {
			const tenant = await unit.find(Tenant, params.tenant_id);
			return reply(200, readTenant(unit, await unit.update(Tenant, tenant, defined(body), tenant.key)));
		},
	}),
	endpoint({
		name: 'deleteTenant',
		summary: 'Delete a tenant with the roles held in it',
		tag,
		method: 'delete',
		path: member,
		access: 'environment.write',
		params: TenantPath,
		returns: { 204: null },
		failures: { 404: 'No such tenant' },
		handle: async ({ params }, { unit }) => {
			await removeTenant(unit, await unit.find(Tenant, params.tenant_id));
			return reply(204);
		},
	}),
];

function readTenant(unit: ReadingUnit, tenant: Tenant): TenantRead {
	return { ...tenant, ...unit.scope };
}
