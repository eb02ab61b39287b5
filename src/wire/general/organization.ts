import { z } from 'zod';
import { Attributes, clearable, Name, optional, StoredObject, Timestamp, Uuid } from '../common.js';

/** The fields of an organization that may change. */
export const OrganizationUpdate = z
	.object({
		name: optional(Name).describe('A new name. Null counts as absent.'),
		settings: clearable(Attributes).describe('Any data of your own, which replaces what is stored; null clears it.'),
	})
	.meta({ id: 'OrganizationUpdate', description: 'The fields of an organization that may change.' });
export type OrganizationUpdate = z.output<typeof OrganizationUpdate>;

/** What a hosted plan would allow; nothing is limited by it here. */
const UsageLimits = z.object({
	mau: z.int().describe('Users a month; limits nothing.'),
	tenants: z.int().describe('Tenants; limits nothing.'),
	billing_tier: z
		.enum(['free', 'startup', 'pro', 'enterprise', 'internal', 'trial'])
		.describe('The plan; limits nothing.'),
});

/** An organization. `is_enterprise` and `usage_limits` are the contract's defaults, kept because clients look for them. */
export const OrganizationRead = z
	.object({
		id: Uuid.describe('The id of the organization.'),
		key: z.string().describe('The key of the organization.'),
		name: z.string().describe('A name for people.'),
		is_enterprise: z.boolean().default(false).describe('Always false.'),
		usage_limits: UsageLimits.default({ mau: 5000, tenants: 50, billing_tier: 'trial' }).describe(
			'What a hosted plan would allow; nothing is limited by it here.',
		),
		created_at: Timestamp.describe('When it was created, in UTC.'),
		updated_at: Timestamp.describe('When it was last changed, in UTC.'),
		settings: StoredObject.nullable().describe('Any data of your own.'),
	})
	.meta({
		id: 'OrganizationRead',
		description:
			"An organization. `is_enterprise` and `usage_limits` are the contract's defaults, kept because clients " +
			'look for them.',
	});
export type OrganizationRead = z.input<typeof OrganizationRead>;
