import { z } from 'zod';
import { ComparedAttributes } from './attributes.js';
import { idents, operations } from './bulk.js';
import { clearable, environmentObject, Key, Name, optional, StoredObject, Text, Timestamp } from './common.js';
import { Flag, pageShape, Search, withAttributeFilters } from './query.js';

/** A new tenant. Attributes that were never given stay null. */
export const TenantCreate = z
	.object({
		key: Key,
		name: Name,
		description: optional(Text),
		attributes: optional(ComparedAttributes),
	})
	.meta({ id: 'TenantCreate' });
export type TenantCreate = z.output<typeof TenantCreate>;

/** The fields of a tenant that may change; `attributes` are replaced as a whole. */
export const TenantUpdate = z
	.object({
		name: optional(Name),
		description: clearable(Text),
		attributes: clearable(ComparedAttributes),
	})
	.meta({ id: 'TenantUpdate' });
export type TenantUpdate = z.output<typeof TenantUpdate>;

/** The most tenants of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkTenants = 2000;

/** Many new tenants. */
export const TenantBulkCreate = operations(TenantCreate, maxBulkTenants, 'tenants').meta({
	id: 'TenantCreateBulkOperation',
});
export type TenantBulkCreate = z.output<typeof TenantBulkCreate>;

/** Many tenants to delete. */
export const TenantBulkRemove = idents(maxBulkTenants, 'tenants').meta({ id: 'TenantDeleteBulkOperation' });
export type TenantBulkRemove = z.output<typeof TenantBulkRemove>;

/** Which tenants a list asks for. */
export const TenantQuery = withAttributeFilters({ include_total_count: Flag, search: Search, ...pageShape });
export type TenantQuery = z.output<typeof TenantQuery>;

/** A tenant. */
export const TenantRead = z
	.object({
		...environmentObject,
		key: z.string(),
		name: z.string(),
		last_action_at: Timestamp,
		description: z.string().nullable(),
		attributes: StoredObject.nullable(),
	})
	.meta({ id: 'TenantRead' });
export type TenantRead = z.input<typeof TenantRead>;
