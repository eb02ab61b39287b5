import { z } from 'zod';
import { Attributes, clearable, Name, optional, StoredObject, Timestamp, Uuid } from '../common.js';
import { named } from '../named.js';

export const OrganizationUpdate = named('OrganizationUpdate', 'Organization fields to change.', {
	name: optional(Name).describe('New name. Null counts as absent.'),
	settings: clearable(Attributes).describe('Custom data, which replaces the stored data; null clears it.'),
});

/** Limits for a hosted plan. This server does not enforce them. */
const UsageLimits = z.object({
	mau: z.int().describe('Monthly active users; not enforced.'),
	tenants: z.int().describe('Tenants; not enforced.'),
	billing_tier: z.enum(['free', 'startup', 'pro', 'enterprise', 'internal', 'trial']).describe('Plan; not enforced.'),
});

/**
 * An organization. `is_enterprise` and `usage_limits` always have the contract's default values, because clients read
 * them.
 */
export const OrganizationRead = named(
	'OrganizationRead',
	'An organization. `is_enterprise` and `usage_limits` are the contract defaults, kept because clients read them.',
	{
		id: Uuid.describe('Organization id.'),
		key: z.string().describe('Organization key.'),
		name: z.string().describe('Display name.'),
		is_enterprise: z.boolean().default(false).describe('Always false.'),
		usage_limits: UsageLimits.default({ mau: 5000, tenants: 50, billing_tier: 'trial' }).describe(
			'Limits for a hosted plan; not enforced here.',
		),
		created_at: Timestamp.describe('Creation time, in UTC.'),
		updated_at: Timestamp.describe('Last change, in UTC.'),
		settings: StoredObject.nullable().describe('Custom data.'),
	},
);
