import { createTenant, createTenants, removeTenant, removeTenants } from '../../domain/facts/tenant.js';
import { definedFields } from '../../domain/schema/defined-fields.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { Tenant, tenantsBy } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { BulkReport } from '../../wire/facts/bulk.js';
import {
	maxBulkTenants,
	TenantBulkCreate,
	TenantBulkRemove,
	TenantCreate,
	TenantQuery,
	TenantRead,
	TenantUpdate,
} from '../../wire/facts/tenant.js';
import { arrayOrPaginated } from '../../wire/list.js';
import { attributeFilterText } from '../../wire/query.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listAnswer } from '../list-answer.js';

const tag = 'Tenants';
const collection = '/v2/facts/:proj_id/:env_id/tenants';
const bulk = '/v2/facts/:proj_id/:env_id/bulk/tenants';
const member = `${collection}/:tenant_id`;
const example = { key: 'acme', name: 'Acme Inc.' };

export const TenantPath = EnvironmentPath.extend({ tenant_id: Reference });
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: TenantPath });
const bulkPlace = methods({ tag, path: bulk, params: EnvironmentPath });

export const tenants = [
	endpoint({
		...collectionPlace.get,
		name: 'listTenants',
		summary: 'List tenants',
		description: attributeFilterText,
		access: 'environment.read',
		query: TenantQuery,
		returns: { 200: arrayOrPaginated(TenantRead) },
		handle: async ({ query }, { unit }) => {
			const page = await tenantsBy(unit, query).list(query);
			const items = page.data.map((tenant) => readTenant(unit, tenant));
			return reply(200, listAnswer(page, items));
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createTenant',
		summary: 'Create a tenant',
		access: 'environment.write',
		body: TenantCreate,
		example,
		returns: { 200: TenantRead },
		failures: { 409: 'A tenant with this key exists' },
		handle: async ({ body }, { unit }) => reply(200, readTenant(unit, await createTenant(unit, body))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getTenant',
		summary: 'Get a tenant',
		access: 'environment.read',
		returns: { 200: TenantRead },
		failures: { 404: 'No such tenant' },
		handle: async ({ params }, { unit }) => reply(200, readTenant(unit, await unit.find(Tenant, params.tenant_id))),
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateTenant',
		summary: 'Update a tenant',
		description: 'Null clears a field; `attributes` are replaced as a whole.',
		access: 'environment.write',
		body: TenantUpdate,
		example: { name: 'Acme Ltd.' },
		returns: { 200: TenantRead },
		failures: { 404: 'No such tenant' },
		handle: async ({ params, body }, { unit }) => {
			const tenant = await unit.find(Tenant, params.tenant_id);
			return reply(200, readTenant(unit, await unit.update(Tenant, tenant, definedFields(body), tenant.key)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteTenant',
		summary: 'Delete a tenant with the roles assigned in it',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such tenant' },
		handle: async ({ params }, { unit }) => emptied(removeTenant(unit, await unit.find(Tenant, params.tenant_id))),
	}),
	endpoint({
		...bulkPlace.post,
		name: 'createTenants',
		summary: 'Create tenants in bulk',
		description: `At most ${maxBulkTenants} tenants per call; all or none are created.`,
		access: 'environment.write',
		body: TenantBulkCreate,
		example: { operations: [example] },
		returns: { 200: BulkReport },
		failures: { 409: 'A tenant with one of the keys already exists, or a key is repeated' },
		handle: async ({ body }, { unit }) => {
			await createTenants(unit, body.operations);
			return reply(200, {});
		},
	}),
	endpoint({
		...bulkPlace.delete,
		name: 'deleteTenants',
		summary: 'Delete tenants in bulk, with the roles assigned in them',
		description: `At most ${maxBulkTenants} tenants per call; all or none are deleted.`,
		access: 'environment.write',
		body: TenantBulkRemove,
		example: { idents: ['acme'] },
		returns: { 200: BulkReport },
		failures: { 404: 'A tenant does not exist' },
		handle: async ({ body }, { unit }) => {
			await removeTenants(unit, await unit.findEach(Tenant, body.idents));
			return reply(200, {});
		},
	}),
];

function readTenant(unit: ReadingUnit, tenant: Tenant): TenantRead {
	return { ...tenant, ...unit.scope };
}
