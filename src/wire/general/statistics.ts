import { z } from 'zod';
import { AlwaysNull, StoredObject } from '../common.js';
import { PdpConfigRead } from '../decision/decision-point.js';
import { EnvironmentRead } from './environment.js';
import { OrganizationRead } from './organization.js';

const Count = z.int().min(0);

/** Members of an organization: people who sign in to a hosted service. A self-hosted install has none. */
export const Members = z.array(StoredObject);

/** An organization and how much of it the calling key opens. What was used in past months is not counted. */
export const OrganizationStats = OrganizationRead.extend({
	stats: z
		.object({
			projects: Count.describe('How many projects.'),
			environments: Count.describe('How many environments.'),
			users: Count.describe('Users of all environments; one that is in two of them counts twice.'),
		})
		.describe('How much there is of what the calling key opens.'),
	historical_usage: z
		.object({
			current_month: AlwaysNull,
			previous_month: AlwaysNull,
			two_months_ago: AlwaysNull,
		})
		.prefault({})
		.describe('Nothing: what was used in past months is not counted.'),
}).meta({
	id: 'OrganizationStats',
	description: 'An organization and how much of it the calling key opens. What was used in past months is not counted.',
});
export type OrganizationStats = z.input<typeof OrganizationStats>;

/** An environment, its PDP configs, and how much it holds, without what is built in. */
export const EnvironmentStats = EnvironmentRead.extend({
	pdp_configs: z.array(PdpConfigRead).describe('The PDP configs that the calling key may see.'),
	stats: z
		.object({
			roles: Count.describe('Tenant roles and resource roles.'),
			users: Count.describe('How many users.'),
			policies: Count.describe('Condition set rules.'),
			resources: Count.describe('How many resources.'),
			tenants: Count.describe('How many tenants.'),
			mau: Count.describe('Always 0: who is active in a month is not counted.'),
			has_decision_logs: z.boolean().describe('Always false: decision logs are not collected.'),
			members: Members.describe('Always empty: a self-hosted install has API keys instead of members.'),
		})
		.describe('How much the environment holds.'),
}).meta({
	id: 'EnvironmentStats',
	description: 'An environment, its PDP configs, and how much it holds, without what is built in.',
});
export type EnvironmentStats = z.input<typeof EnvironmentStats>;
