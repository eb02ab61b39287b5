import { z } from 'zod';
import { StoredObject } from './common.js';
import { PdpConfigRead } from './decision-point.js';
import { EnvironmentRead } from './environment.js';
import { OrganizationRead } from './organization.js';

const Count = z.int().min(0);

/** Members of an organization: people who sign in to a hosted service. A self-hosted install has none. */
export const Members = z.array(StoredObject);

/** An organization and how much of it the calling key opens. What was used in past months is not counted. */
export const OrganizationStats = OrganizationRead.extend({
	stats: z.object({
		projects: Count,
		environments: Count,
		/** Users of all environments; one that is in two of them counts twice. */
		users: Count,
	}),
	historical_usage: z
		.object({
			current_month: z.null().default(null),
			previous_month: z.null().default(null),
			two_months_ago: z.null().default(null),
		})
		.prefault({}),
}).meta({ id: 'OrganizationStats' });
export type OrganizationStats = z.input<typeof OrganizationStats>;

/** An environment, its PDP configs, and how much it holds, without what is built in. */
export const EnvironmentStats = EnvironmentRead.extend({
	pdp_configs: z.array(PdpConfigRead),
	stats: z.object({
		/** Tenant roles and resource roles. */
		roles: Count,
		users: Count,
		/** Condition set rules. */
		policies: Count,
		resources: Count,
		tenants: Count,
		/** Always 0: who is active in a month is not counted. */
		mau: Count,
		/** Always false: decision logs are not collected. */
		has_decision_logs: z.boolean(),
		members: Members,
	}),
}).meta({ id: 'EnvironmentStats' });
export type EnvironmentStats = z.input<typeof EnvironmentStats>;
