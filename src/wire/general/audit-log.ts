/** The decision log: what decision points send, and what is shown of it. */

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { Reference, Text, Timestamp, Uuid } from '../common.js';
import { ValidationProblems } from '../error.js';
import { paginated } from '../list.js';
import { pageShape, Search } from '../query.js';
import { unchecked } from '../unchecked.js';

/** The most events of one request. */
export const maxLoggedDecisions = 10_000;

/** The earliest time that PostgreSQL reads in ISO 8601. */
const firstInstant = Date.parse('0001-01-01T00:00:00Z');

const anything = z.unknown();

/**
 * An event in OPA's format. Other members are kept as they are. `result` is an object with `allow` and `code`, or a
 * boolean.
 */
export const DecisionEvent = z
	.looseObject({
		decision_id: Text.min(1)
			.max(256)
			.describe('The id of the decision; an event with an id that is stored already is not stored again.'),
		timestamp: z.iso
			.datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z' })
			.refine((text) => !(Date.parse(text) < firstInstant), 'must not be before the year 1')
			.describe('When it was decided: ISO 8601 with a zone, at most five minutes ahead.'),
		input: anything.optional().describe('The check that was decided, as the policy got it.'),
		result: anything.optional().describe('What was decided: an object with `allow` and `code`, or a boolean.'),
	})
	.meta({
		id: 'DecisionEvent',
		description:
			"An event in OPA's format. Other members are kept as they are. `result` is an object with `allow` and " +
			'`code`, or a boolean.',
	});
export type DecisionEvent = z.output<typeof DecisionEvent>;

/** A batch of events. Its events are checked one by one while they are stored, so that a bad one does not end the batch. */
export const DecisionEvents = boundedArray(
	unchecked(DecisionEvent),
	maxLoggedDecisions,
	`must have at most ${maxLoggedDecisions} events`,
);

/** The answer to a batch with bad events. */
export const PartlyLogged = z
	.object({
		accepted: z.int().describe('The number of events that are stored now, also of earlier uploads.'),
		refused: z.int().describe('The number of bad events, which are not stored.'),
		detail: ValidationProblems,
	})
	.meta({
		id: 'PartlyLogged',
		description: 'The answer to a batch with bad events: it names them by index and member.',
	});

const optionalText = z.string().nullable();

/** A decision that was logged. */
export const AuditLogModel = z
	.object({
		id: Uuid.describe('The id of the decision.'),
		timestamp: Timestamp.describe('When it was decided, in UTC.'),
		created_at: Timestamp.describe('When it was logged, in UTC.'),
		org_id: Uuid.describe('The id of the organization.'),
		project_id: Uuid.describe('The id of the project.'),
		env_id: Uuid.describe('The id of the environment.'),
		pdp_config_id: Uuid.describe('The id of the API key by which the decision point sent it.'),
		query: optionalText.meta({ description: 'What was asked: the path of the policy.' }),
		user_key: optionalText.describe('The key of the user who was asked about.'),
		user_email: optionalText.meta({ description: 'As the user is stored now, or else as it was sent.' }),
		user_name: optionalText.meta({ description: 'As the user is stored now, or else as it was sent.' }),
		resource_type: optionalText.describe('The key of the resource that was asked about.'),
		tenant: optionalText.describe('The key of the tenant of the check.'),
		action: optionalText.describe('The key of the action.'),
		decision: z.boolean().nullable().describe('Whether it was allowed; null if the event does not say.'),
		reason: optionalText.meta({ description: 'The code: `allow`, or that of the denial.' }),
		input: anything.describe('The check, as the policy got it, without what was masked.'),
		result: anything.describe('What the policy said.'),
		context: anything.describe('The context that the check sent.'),
		raw_data: anything.meta({ description: 'The event as the decision point sent it.' }),
	})
	.meta({ id: 'AuditLogModel', description: 'A decision that was logged.' });
export type AuditLogModel = z.input<typeof AuditLogModel>;

const named = z
	.object({
		id: Uuid.describe('The id.'),
		key: z.string().describe('The key.'),
		name: z.string().nullable().describe('The name; of a user the e-mail address.'),
		created_at: Timestamp.describe('When it was created, in UTC.'),
		updated_at: Timestamp.describe('When it was last changed, in UTC.'),
	})
	.nullable();

/** A decision with what it names, as far as that is there now. */
export const DetailedAuditLogModel = AuditLogModel.extend({
	objects: z
		.object({
			user_object: named.describe('The user; null if it is not stored.'),
			resource_type_object: named.describe('The resource; null if it is not stored.'),
			tenant_object: named.describe('The tenant; null if it is not stored.'),
		})
		.describe('What the decision names, as it is stored now.'),
}).meta({ id: 'DetailedAuditLogModel', description: 'A decision with what it names, as far as that is there now.' });

/**
 * A page of decisions. `pagination_count` is how many can be paged through, at most 10,000; `total_count` says no more.
 */
export const AuditLogPage = paginated(AuditLogModel).extend({
	pagination_count: z.int().min(0).describe('How many decisions can be paged through, at most 10,000.'),
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

/** Which decisions are asked for. */
export const AuditLogQuery = z.object({
	pdp_id: Uuid.optional().describe('Only decisions of this PDP config (its id).'),
	users: texts.meta({ description: 'Keys of users.' }),
	resources: texts.meta({ description: 'Keys of resource types.' }),
	tenant: Reference.optional().describe('Only decisions in the tenant with this key.'),
	action: Reference.optional().describe('Only decisions about the action with this key.'),
	decision: decision.describe('Only what was allowed (`true`) or denied (`false`).'),
	code: code.meta({
		description:
			'Only decisions with this code, which is their `reason`: `allow`, or that of a denial, such as `no_permission`. ' +
			'Events that came without a code have none.',
	}),
	timestamp_from: unixTime.meta({ description: 'In seconds since 1970.' }),
	timestamp_to: unixTime.meta({ description: 'In seconds since 1970; exclusive.' }),
	sort_by: z.enum(['None', 'timestamp']).optional().meta({ description: 'The newest first in any case.' }),
	search: Search,
	...pageShape,
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;
