/** The decision log: the events that decision points send, and the form in which they are shown. */

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Reference, Text, Timestamp, Uuid } from '../common.js';
import { ValidationProblems } from '../error.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { pageShape, Search } from '../query.js';
import { unchecked } from '../unchecked.js';

/** Maximum number of events per request. */
export const maxLoggedDecisions = 10_000;

/** Earliest time in ISO 8601 that PostgreSQL can read. */
const firstInstant = Date.parse('0001-01-01T00:00:00Z');

const anything = z.unknown();

export const DecisionEvent = z
	.looseObject({
		decision_id: Text.min(1).max(256).describe('Decision id; a copy of a stored event is not stored again.'),
		timestamp: z.iso
			.datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z' })
			.refine((text) => !(Date.parse(text) < firstInstant), 'must not be before the year 1')
			.describe('Decision time: ISO 8601 with a zone, at most five minutes ahead.'),
		input: anything.optional().describe('The decided check, as the policy received it.'),
		result: anything.optional().describe('The decision: an object with `allow` and `code`, or a boolean.'),
	})
	.meta({
		id: 'DecisionEvent',
		description:
			'An event in the OPA format. Other fields are kept unchanged. ' +
			'`result` is an object with `allow` and `code`, or a boolean.',
	});
export type DecisionEvent = z.output<typeof DecisionEvent>;

/** Event batch. Each event is validated when it is stored, so an invalid event does not stop the batch. */
export const DecisionEvents = boundedArray(
	unchecked(DecisionEvent),
	maxLoggedDecisions,
	`must have at most ${maxLoggedDecisions} events`,
);

/** Response to a batch that contains invalid events. */
export const PartlyLogged = named(
	'PartlyLogged',
	'Response to a batch with invalid events, which it lists by index and field.',
	{
		accepted: z.int().describe('Number of events now stored, including events from earlier uploads.'),
		refused: z.int().describe('Number of invalid events, which are not stored.'),
		detail: ValidationProblems,
	},
);

const optionalText = z.string().nullable();

export const AuditLogModel = named('AuditLogModel', 'A logged decision.', {
	id: Uuid.describe('Decision id.'),
	timestamp: Timestamp.describe('Decision time, in UTC.'),
	created_at: Timestamp.describe('Time at which the decision was logged, in UTC.'),
	org_id: Uuid.describe('Organization id.'),
	project_id: Uuid.describe('Project id.'),
	env_id: Uuid.describe('Environment id.'),
	pdp_config_id: Uuid.describe('Id of the API key with which the decision point sent it.'),
	query: optionalText.describe('Policy path for the query.'),
	user_key: optionalText.describe('User key in the check.'),
	user_email: optionalText.describe('Currently stored e-mail address of the user, or else the address in the check.'),
	user_name: optionalText.describe('Currently stored name of the user, or else the name in the check.'),
	resource_type: optionalText.describe('Resource key in the check.'),
	tenant: optionalText.describe('Tenant key in the check.'),
	action: optionalText.describe('Action key.'),
	decision: z.boolean().nullable().describe('True if allowed; null if the event does not contain a result.'),
	reason: optionalText.describe('Code: `allow`, or a denial code.'),
	input: anything.describe('The check, as the policy received it, without masked values.'),
	result: anything.describe('The policy result.'),
	context: anything.describe('Context sent with the check.'),
	raw_data: anything.describe('The event, as the decision point sent it.'),
});
export type AuditLogModel = z.input<typeof AuditLogModel>;

const StoredEntity = z
	.object({
		id: Uuid.describe('Object id.'),
		key: z.string().describe('Object key.'),
		name: z.string().nullable().describe('Display name; for a user, the e-mail address.'),
		created_at: Timestamp.describe('Creation time, in UTC.'),
		updated_at: Timestamp.describe('Last change, in UTC.'),
	})
	.nullable();

export const DetailedAuditLogModel = AuditLogModel.extend({
	objects: z
		.object({
			user_object: StoredEntity.describe('The user; null if not stored.'),
			resource_type_object: StoredEntity.describe('The resource; null if not stored.'),
			tenant_object: StoredEntity.describe('The tenant; null if not stored.'),
		})
		.describe('Objects in the decision, as currently stored.'),
}).meta({ id: 'DetailedAuditLogModel', description: 'A decision with its objects, as currently stored.' });

/**
 * A page of decisions. `pagination_count` is the number of decisions that can be reached page by page, at most 10,000.
 * `total_count` has the same limit.
 */
export const AuditLogPage = paginated(AuditLogModel).extend({
	pagination_count: z.int().min(0).describe('Number of decisions that pages can reach, at most 10,000.'),
});

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

const code = z
	.string()
	.regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be a code such as `no_permission`: 1 to 128 of a-z, A-Z, 0-9, `_`, `-`')
	.optional();

/** Filters for decisions. */
export const AuditLogQuery = z.object({
	pdp_id: Uuid.optional().describe('Only decisions from this PDP config (id).'),
	users: texts.describe('Only decisions about users with these keys; may be repeated.'),
	resources: texts.describe('Only decisions about resources with these keys; may be repeated.'),
	tenant: Reference.optional().describe('Only decisions in the tenant with this key.'),
	action: Reference.optional().describe('Only decisions about the action with this key.'),
	decision: decision.describe('Only allowed (`true`) or denied (`false`) decisions.'),
	code: code.describe(
		'Only decisions with this code, shown as `reason`: `allow`, or a denial ' +
			'code such as `no_permission`. Events sent without a code never match.',
	),
	timestamp_from: unixTime.describe('Earliest time, in seconds since 1970.'),
	timestamp_to: unixTime.describe('Latest time, in seconds since 1970; exclusive.'),
	sort_by: z.enum(['None', 'timestamp']).optional().describe('Has no effect: the newest decisions come first.'),
	search: Search,
	...pageShape,
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;
