import { z } from 'zod';
import { AlwaysNull, StoredObject } from '../common.js';
import { PdpConfigRead } from '../decision/decision-point.js';
import { EnvironmentRead } from './environment.js';
import { OrganizationRead } from './organization.js';

const Count = z.int().min(0);

/** Organization members: people who sign in to a hosted service. A self-hosted installation has no members. */
export const Members = z.array(StoredObject);

export const OrganizationStats = OrganizationRead.extend({
	stats: z
		.object({
			projects: Count.describe('Project count.'),
			environments: Count.describe('Environment count.'),
			users: Count.describe('Users in all environments; a user in two environments counts twice.'),
		})
		.describe('Object counts in the scope of the calling key.'),
	historical_usage: z
		.object({
			current_month: AlwaysNull,
			previous_month: AlwaysNull,
			two_months_ago: AlwaysNull,
		})
		.prefault({})
		.describe('Empty: past usage is not recorded.'),
}).meta({
	id: 'OrganizationStats',
	description: 'An organization, with statistics in the scope of the calling key. Past usage is not recorded.',
});

export const EnvironmentStats = EnvironmentRead.extend({
	pdp_configs: z.array(PdpConfigRead).describe('PDP configs visible to the calling key.'),
	stats: z
		.object({
			roles: Count.describe('Tenant roles and resource roles.'),
			users: Count.describe('User count.'),
			policies: Count.describe('Condition set rules.'),
			resources: Count.describe('Resource count.'),
			tenants: Count.describe('Tenant count.'),
			mau: Count.describe('Always 0: monthly active users are not counted.'),
			has_decision_logs: z.boolean().describe('Always false; kept because clients read it.'),
			members: Members.describe('Always empty: a self-hosted installation has API keys instead of members.'),
		})
		.describe('Object counts in the environment.'),
}).meta({
	id: 'EnvironmentStats',
	description: 'An environment with its PDP configs and object counts, excluding built-in objects.',
});
