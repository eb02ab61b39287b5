import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { StoredObject, Timestamp, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { pageShape, Search } from '../query.js';

/** The kinds of objects that changes are about. */
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
	'element_request',
]);
export type ChangeKind = z.output<typeof ChangeKind>;

/** What can happen to an object. */
export const ChangeOperation = z.enum(['create', 'update', 'delete']);
export type ChangeOperation = z.output<typeof ChangeOperation>;

/** One object that was created, changed or deleted: by whom, when, and what it was before and after. */
export const ChangeRead = z
	.object({
		revision: z
			.int()
			.min(1)
			.describe('The revision of the environment after the change; all changes of one request share it.'),
		position: z.int().min(0).describe('The position of the change among those of its revision.'),
		kind: ChangeKind.describe('What kind of object was changed.'),
		operation: ChangeOperation.describe('What happened to the object.'),
		key: z
			.string()
			.describe(
				'The key of the object, with that of its resource where it has one; what else names it where it has no key.',
			),
		before: StoredObject.nullable().describe('The object before the change; null if it was created.'),
		after: StoredObject.nullable().describe('The object after the change; null if it was deleted.'),
		actor: z
			.object({
				id: Uuid.describe('The id of the API key, or of the user of elements.'),
				name: z.string().nullable().describe('The name of the API key, if it has one.'),
			})
			.nullable()
			.describe(
				'The API key that wrote, or the user of elements; null for the server itself. The name is null once a ' +
					'key was deleted, if it has none, and for users.',
			),
		created_at: Timestamp.describe('When it was changed, in UTC.'),
	})
	.meta({
		id: 'ChangeRead',
		description: 'One object that was created, changed or deleted: by whom, when, and what it was before and after.',
	});
export type ChangeRead = z.input<typeof ChangeRead>;

/**
 * A page of changes. `revision` is the newest one that it covers. Sent as `revision_to` with the other pages, it keeps
 * them consistent.
 */
export const ChangePage = paginated(ChangeRead).extend({
	revision: z
		.int()
		.min(0)
		.describe('The newest revision that the page covers: sent as `revision_to` with other pages.'),
});

/** A parameter that may be repeated: any of its values may match. */
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

/** Which changes are listed. Both ends of a range are in it. */
export const ChangeQuery = z.object({
	kind: repeatable(ChangeKind).describe('Only changes of these kinds of objects; may be repeated.'),
	operation: repeatable(ChangeOperation).describe('Only what was created, updated or deleted; may be repeated.'),
	search: Search.describe('Part of the key of the object; with `*` a pattern for the whole.'),
	actor: repeatable(Uuid).describe('Only changes by these API keys or users (ids); may be repeated.'),
	revision_from: Revision.describe('The first revision, inclusive.'),
	revision_to: Revision.describe('The last revision, inclusive. Sent with later pages, it keeps them consistent.'),
	created_from: Instant.describe('The earliest time, inclusive: ISO 8601 with a zone.'),
	created_to: Instant.describe('The latest time, inclusive: ISO 8601 with a zone.'),
	...pageShape,
});
