import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { StoredObject, Timestamp, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { pageShape, Search } from '../query.js';

/** Object kinds in the change log. */
export const ChangeKind = z.enum([
	'environment',
	'resource',
	'resource_action',
	'resource_attribute',
	'action_group',
	'relation',
	'role',
	'condition_set',
	'condition_set_rule',
	'user',
	'tenant',
	'tenant_user',
	'role_assignment',
	'resource_instance',
	'relationship_tuple',
	'group',
	'user_invite',
	'proxy_config',
	'pdp_config',
	'elements_config',
	'check_test',
	'element_request',
]);
export type ChangeKind = z.output<typeof ChangeKind>;

/** Operations on objects. */
export const ChangeOperation = z.enum(['create', 'update', 'delete']);
export type ChangeOperation = z.output<typeof ChangeOperation>;

export const ChangeRead = named('ChangeRead', 'A change of one object: actor, time, and the object before and after.', {
	revision: z.int().min(1).describe('Environment revision after the change; all changes in one request share it.'),
	position: z.int().min(0).describe('Change position within its revision.'),
	kind: ChangeKind.describe('Changed object kind.'),
	operation: ChangeOperation.describe('Operation on the object.'),
	key: z
		.string()
		.describe('Object key, prefixed with its resource key if it has one; a different identifier if it has no key.'),
	before: StoredObject.nullable().describe('Object before the change; null if it was created.'),
	after: StoredObject.nullable().describe('Object after the change; null if it was deleted.'),
	actor: z
		.object({
			id: Uuid.describe('Id of the API key or elements user.'),
			name: z.string().nullable().describe('API key name, if it has one.'),
		})
		.nullable()
		.describe(
			'The API key or elements user that made the change; null for the server itself. ' +
				'The name is null for users, and for keys that are deleted or unnamed.',
		),
	created_at: Timestamp.describe('Change time, in UTC.'),
	undoable: z
		.boolean()
		.describe(
			'True if a draft can undo only this change, provided that the objects referred to by the change still exist.',
		),
});
export type ChangeRead = z.input<typeof ChangeRead>;

/**
 * A page of changes. `revision` is the newest revision that the list covers. To keep the pages consistent, send it as
 * `revision_to` with all further requests.
 */
export const ChangePage = paginated(ChangeRead).extend({
	revision: z.int().min(0).describe('Newest revision in the list. Send it as `revision_to` with the other pages.'),
});

/** Parameter that may be repeated. A change needs to match only one value. */
function repeatable<S extends z.ZodType>(value: S) {
	return z.preprocess((given) => (typeof given === 'string' ? [given] : given), boundedArray(value)).optional();
}

const Revision = z
	.preprocess(
		(value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
		z.int('must be a whole number of at most 15 digits').min(0),
	)
	.optional();

const Instant = Timestamp.optional();

/** Filters for changes. Both ends of a range are included. */
export const ChangeQuery = z.object({
	kind: repeatable(ChangeKind).describe('Only changes of these object kinds; may be repeated.'),
	operation: repeatable(ChangeOperation).describe('Only these operations: create, update or delete; may be repeated.'),
	search: Search.describe('Part of the object key; with `*`, a pattern for the whole key.'),
	actor: repeatable(Uuid).describe('Only changes by these API keys or users (ids); may be repeated.'),
	revision_from: Revision.describe('First revision, inclusive.'),
	revision_to: Revision.describe('Last revision, inclusive. Sent with later pages, it keeps them consistent.'),
	created_from: Instant.describe('Earliest time, inclusive: ISO 8601 with a zone.'),
	created_to: Instant.describe('Latest time, inclusive: ISO 8601 with a zone.'),
	...pageShape,
});
