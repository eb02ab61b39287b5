import { z } from 'zod';
import { Attributes, clearable, Name, optional, StoredObject, Timestamp, Uuid } from './common.js';

/** The fields of an organization that may change. */
export const OrganizationUpdate = z
	.object({ name: optional(Name), settings: clearable(Attributes) })
	.meta({ id: 'OrganizationUpdate' });
export type OrganizationUpdate = z.output<typeof OrganizationUpdate>;

/** What a hosted plan would allow; nothing is limited by it here. */
const UsageLimits = z.object({
	mau: z.int(),
	tenants: z.int(),
	billing_tier: z.enum(['free', 'startup', 'pro', 'enterprise', 'internal', 'trial']),
});

/** An organization. `is_enterprise` and `usage_limits` are the contract's defaults, kept because clients look for them. */
export const OrganizationRead = z
	.object({
		id: Uuid,
		key: z.string(),
		name: z.string(),
		is_enterprise: z.boolean().default(false),
		usage_limits: UsageLimits.default({ mau: 5000, tenants: 50, billing_tier: 'trial' }),
		created_at: Timestamp,
		updated_at: Timestamp,
		settings: StoredObject.nullable(),
	})
	.meta({ id: 'OrganizationRead' });
export type OrganizationRead = z.input<typeof OrganizationRead>;
