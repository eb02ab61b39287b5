/** The decision log: what decision points send, and what is shown of it. */

import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { Reference, Text, Timestamp, Uuid } from './common.js';
import { paginated } from './list.js';
import { pageShape, Search } from './query.js';

/** The most events of one request. */
export const maxLoggedDecisions = 10_000;

const anything = z.unknown();

/**
 * An event in OPA's format. Other members are kept as they are. `result` is an object with `allow` and `code`, or a
 * boolean.
 */
export const DecisionEvent = z.looseObject({
	decision_id: Text.min(1).max(256),
	timestamp: z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z' }),
	input: anything.optional(),
	result: anything.optional(),
});
export type DecisionEvent = z.output<typeof DecisionEvent>;

/** What a decision point uploads. */
export const DecisionEvents = boundedArray(
	DecisionEvent,
	maxLoggedDecisions,
	`must have at most ${maxLoggedDecisions} events`,
);

const optionalText = z.string().nullable();

/** A decision that was logged. */
export const AuditLogModel = z
	.object({
		id: Uuid,
		timestamp: Timestamp,
		created_at: Timestamp,
		org_id: Uuid,
		project_id: Uuid,
		env_id: Uuid,
		pdp_config_id: Uuid,
		query: optionalText.meta({ description: 'What was asked: the path of the policy.' }),
		user_key: optionalText,
		user_email: optionalText.meta({ description: 'As the user is stored now, or else as it was sent.' }),
		user_name: optionalText.meta({ description: 'As the user is stored now, or else as it was sent.' }),
		resource_type: optionalText,
		tenant: optionalText,
		action: optionalText,
		decision: z.boolean().nullable(),
		reason: optionalText.meta({ description: 'The code: `allow`, or that of the denial.' }),
		input: anything,
		result: anything,
		context: anything,
		raw_data: anything.meta({ description: 'The event as the decision point sent it.' }),
	})
	.meta({ id: 'AuditLogModel' });
export type AuditLogModel = z.input<typeof AuditLogModel>;

const named = z.object({ id: Uuid, key: z.string(), name: z.string().nullable() }).nullable();

/** A decision with what it names, as far as that is there now. */
export const DetailedAuditLogModel = AuditLogModel.extend({
	objects: z.object({
		user_object: named,
		resource_type_object: named,
		tenant_object: named,
	}),
}).meta({ id: 'DetailedAuditLogModel' });

/**
 * A page of decisions. `pagination_count` is how many can be paged through, at most 10,000; `total_count` says no more.
 */
export const AuditLogPage = paginated(AuditLogModel).extend({ pagination_count: z.int().min(0) });

const texts = z
	.preprocess((value) => (typeof value === 'string' ? [value] : value), boundedArray(Text, 100))
	.optional();

const unixTime = z
	.string()
	.regex(/^\d{1,11}$/, 'must be a number of seconds since 1970')
	.transform((text) => new Date(Number(text) * 1_000))
	.optional();

const decision = z
	.enum(['true', 'false'], { error: 'must be true or false' })
	.transform((text) => text === 'true')
	.optional();

/** Which decisions are asked for. */
export const AuditLogQuery = z.object({
	pdp_id: Uuid.optional(),
	users: texts.meta({ description: 'Keys of users.' }),
	resources: texts.meta({ description: 'Keys of resource types.' }),
	tenant: Reference.optional(),
	action: Reference.optional(),
	decision,
	timestamp_from: unixTime.meta({ description: 'In seconds since 1970.' }),
	timestamp_to: unixTime.meta({ description: 'In seconds since 1970; exclusive.' }),
	sort_by: z.enum(['None', 'timestamp']).optional().meta({ description: 'The newest first in any case.' }),
	search: Search,
	...pageShape,
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;
