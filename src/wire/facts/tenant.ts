import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { clearable, environmentObject, Key, Name, optional, StoredObject, Text, Timestamp } from '../common.js';
import { Flag, pageShape, Search, withAttributeFilters } from '../query.js';
import { idents, operations } from './bulk.js';

/** A new tenant. Attributes that were never given stay null. */
export const TenantCreate = z
	.object({
		key: Key.describe('The key, unique among the tenants of the environment; checks name it.'),
		name: Name.describe('A name for people.'),
		description: optional(Text).describe('Who the tenant is. Null counts as absent.'),
		attributes: optional(ComparedAttributes).describe('Attributes for conditions to compare. Null counts as absent.'),
	})
	.meta({ id: 'TenantCreate', description: 'A new tenant. Attributes that were never given stay null.' });
export type TenantCreate = z.output<typeof TenantCreate>;

/** The fields of a tenant that may change; `attributes` are replaced as a whole. */
export const TenantUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		description: clearable(Text).describe('Who the tenant is; null clears it.'),
		attributes: clearable(ComparedAttributes).describe('All attributes from now on; null clears them.'),
	})
	.meta({
		id: 'TenantUpdate',
		description: 'The fields of a tenant that may change; `attributes` are replaced as a whole.',
	});
export type TenantUpdate = z.output<typeof TenantUpdate>;

/** The most tenants of one bulk call. Each call is one unit, and no other write to the environment runs meanwhile. */
export const maxBulkTenants = 2000;

/** Many new tenants. */
export const TenantBulkCreate = operations(TenantCreate, maxBulkTenants, 'tenants').meta({
	id: 'TenantCreateBulkOperation',
	description: 'Many new tenants.',
});
export type TenantBulkCreate = z.output<typeof TenantBulkCreate>;

/** Many tenants to delete. */
export const TenantBulkRemove = idents(maxBulkTenants, 'tenants').meta({
	id: 'TenantDeleteBulkOperation',
	description: 'Many tenants to delete.',
});
export type TenantBulkRemove = z.output<typeof TenantBulkRemove>;

/** Which tenants a list asks for. */
export const TenantQuery = withAttributeFilters({
	include_total_count: Flag.describe(
		'Answer an object with `data`, `total_count` and `page_count` in place of a plain array.',
	),
	search: Search,
	...pageShape,
});
export type TenantQuery = z.output<typeof TenantQuery>;

/** A tenant. */
export const TenantRead = z
	.object({
		...environmentObject,
		key: z.string().describe('The key, unique among the tenants of the environment; checks name it.'),
		name: z.string().describe('A name for people.'),
		last_action_at: Timestamp.describe('When the tenant was last changed, in UTC.'),
		description: z.string().nullable().describe('Who the tenant is.'),
		attributes: StoredObject.nullable().describe('Its attributes, which conditions compare.'),
	})
	.meta({ id: 'TenantRead', description: 'A tenant.' });
export type TenantRead = z.input<typeof TenantRead>;
