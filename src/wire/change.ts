import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { StoredObject, Timestamp, Uuid } from './common.js';
import { paginated } from './list.js';
import { pageShape, Search } from './query.js';

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
const ChangeOperation = z.enum(['create', 'update', 'delete']);

/** One object that was created, changed or deleted: by whom, when, and what it was before and after. */
export const ChangeRead = z
	.object({
		/** The revision of the environment after the change; all changes of one request share it. */
		revision: z.int().min(1),
		/** The position of the change among those of its revision. */
		position: z.int().min(0),
		kind: ChangeKind,
		operation: ChangeOperation,
		key: z.string(),
		before: StoredObject.nullable(),
		after: StoredObject.nullable(),
		/**
		 * The API key that wrote, or the user of elements; null for the server itself. The name is null once a key was
		 * deleted, if it has none, and for users.
		 */
		actor: z.object({ id: Uuid, name: z.string().nullable() }).nullable(),
		created_at: Timestamp,
	})
	.meta({ id: 'ChangeRead' });
export type ChangeRead = z.input<typeof ChangeRead>;

/**
 * A page of changes. `revision` is the newest one that it covers. Sent as `revision_to` with the other pages, it keeps
 * them consistent.
 */
export const ChangePage = paginated(ChangeRead).extend({ revision: z.int().min(0) });

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
	kind: repeatable(ChangeKind),
	operation: repeatable(ChangeOperation),
	search: Search,
	actor: repeatable(Uuid),
	revision_from: Revision,
	revision_to: Revision,
	created_from: Instant,
	created_to: Instant,
	...pageShape,
});
