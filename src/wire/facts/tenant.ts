import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { clearable, optional, StoredObject, Timestamp } from '../common.js';
import { changedFields, describedFields, named, namedObject } from '../named.js';
import { pageShape, Search, TotalCountFlag, withAttributeFilters } from '../query.js';
import { idents, operations } from './bulk.js';

export const TenantCreate = named('TenantCreate', 'A new tenant. Attributes stay null until they are set.', {
	...describedFields('Tenant', 'tenants in the environment; used in checks'),
	attributes: optional(ComparedAttributes).describe('Attributes for conditions to compare. Null counts as absent.'),
});
export type TenantCreate = z.output<typeof TenantCreate>;

export const TenantUpdate = named('TenantUpdate', 'Tenant fields to change; `attributes` are replaced as a whole.', {
	...changedFields('Tenant'),
	attributes: clearable(ComparedAttributes).describe('Complete new attributes; null clears them.'),
});

/**
 * Maximum number of tenants per bulk call. The number is limited because each call is one unit of work, which blocks
 * other writes to the environment.
 */
export const maxBulkTenants = 2000;

export const TenantBulkCreate = operations(TenantCreate, maxBulkTenants, 'tenants').meta({
	id: 'TenantCreateBulkOperation',
	description: 'Tenants to create.',
});

export const TenantBulkRemove = idents(maxBulkTenants, 'tenants').meta({
	id: 'TenantDeleteBulkOperation',
	description: 'Tenants to delete.',
});

export const TenantQuery = withAttributeFilters({
	include_total_count: TotalCountFlag,
	search: Search,
	...pageShape,
});

export const TenantRead = named('TenantRead', 'A tenant.', {
	...namedObject('tenants in the environment; used in checks'),
	last_action_at: Timestamp.describe('Last tenant change, in UTC.'),
	description: z.string().nullable().describe('Tenant description.'),
	attributes: StoredObject.nullable().describe('Attributes for conditions.'),
});
export type TenantRead = z.input<typeof TenantRead>;
