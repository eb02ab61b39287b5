/**
 * What decision points are asked and what they answer. Requests are read leniently, because clients send whole user
 * records.
 */

import { z } from 'zod';
import { debugSchema } from './attempt.js';
import { refuseTooLarge } from './attributes.js';
import { boundedArray, choice } from './bounded.js';
import { tooManyMessage } from './bulk.js';
import { type JsonJudge, refuseFaults } from './json-fault.js';
import { pageShape } from './query.js';

const optionalText = z.string().nullish();

/**
 * A JSON object, passed on unchanged; null counts as absent. Not a record: those copy, and lose a member called
 * `__proto__`.
 */
export const attributes = z
	.custom<Readonly<Record<string, unknown>> | null | undefined>(
		(value) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value)),
		'must be an object',
	)
	.superRefine((value, ctx) => {
		// The size is checked first: within the bound, looking through the value is cheap.
		if (!refuseTooLarge(value, ctx)) refuseFaults(value, finite, ctx);
	})
	.optional()
	.meta({ type: ['object', 'null'] });

/**
 * `JSON.parse` reads some numbers as infinity, such as 1e999. A policy would see null instead, and negated conditions
 * on the number would hold.
 */
const finite: JsonJudge = {
	leaf: (value) => (typeof value === 'number' && !Number.isFinite(value) ? 'must be a finite number' : null),
};

/** Asks for the reasons in `debug`, or also for the attempts. */
const useDebugger = z
	.union([z.boolean(), z.literal('attempts')], 'must be true, false or "attempts"')
	.nullish()
	.meta({ description: 'True adds the reasons as `debug`; `attempts` adds them with `debug.attempts`.' });

const user = z.preprocess(
	(value) => (typeof value === 'string' ? { key: value } : value),
	z.object({
		key: z.string(),
		first_name: optionalText,
		firstName: optionalText,
		last_name: optionalText,
		lastName: optionalText,
		email: optionalText,
		attributes,
	}),
);

function typeAndKey(text: string): { readonly type: string; readonly key?: string } {
	const colon = text.indexOf(':');
	return colon === -1 ? { type: text } : { type: text.slice(0, colon), key: text.slice(colon + 1) };
}

const resource = z.preprocess(
	(value) => (typeof value === 'string' ? typeAndKey(value) : value),
	z.object({ type: z.string(), key: optionalText, tenant: optionalText, attributes }),
);

/** One check as clients send it. Unknown members are ignored, `null` is absent, user and resource may be strings. */
export const Query = z.object({
	user,
	action: z.string(),
	resource,
	context: attributes,
	sdk: optionalText,
	use_debugger: useDebugger,
});

/** One check as clients send it, after validation. */
export type Query = z.output<typeof Query>;

/** The most checks of one request. */
export const maxBulkChecks = 10_000;

const checks = boundedArray(Query, maxBulkChecks, tooManyMessage(maxBulkChecks, 'checks'));

/** Many checks: a bare array of them, or the array as member `checks`. */
export const BulkQuery = choice(Array.isArray, checks, z.object({ checks })).transform((given): readonly Query[] =>
	'checks' in given ? given.checks : given,
);

/**
 * One check for all tenants: the check, or as the Node SDK sends it, with its headers beside it. A tenant of the
 * resource is ignored.
 */
export const AllTenantsQuery = choice(
	(value) => typeof value === 'object' && value !== null && 'params' in value,
	z.object({ params: Query, headers: z.object({ Authorization: optionalText }).nullish() }),
	Query,
).transform((given): Query => ('params' in given ? given.params : given));

const filter = boundedArray(z.string()).nullish();

/** Asks what a user may do. A filter that is absent, null or empty lets everything through. */
export const PermissionsQuery = z.object({
	user,
	/** Tenant keys, or object ids `__tenant:<key>`. */
	tenants: filter,
	/** Object ids (`<type>:<key>`, `__tenant:<key>`) or bare keys. */
	resources: filter,
	/** Resource types; `__tenant` stands for the tenants themselves. */
	resource_types: filter,
	context: attributes,
});

/** A question for permissions, after validation. */
export type PermissionsQuery = z.output<typeof PermissionsQuery>;

/** The longest URL of a check, in characters. */
export const maxUrlLength = 8_192;

/** One check that names a request to a URL in place of action and resource. */
export const UrlQuery = z.object({
	user,
	/** Its case does not matter. */
	http_method: z.string().max(64),
	url: z
		.string()
		.max(maxUrlLength)
		.refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), 'must be an absolute http or https URL'),
	tenant: z.string(),
	context: attributes,
	sdk: optionalText,
	use_debugger: useDebugger,
});

/** A check of a request to a URL, after validation. */
export type UrlQuery = z.output<typeof UrlQuery>;

/** The answer to one check. `result` repeats `allow` for old clients; the rest is there only when asked for. */
export const AuthorizationResult = z.object({
	allow: z.boolean(),
	result: z.boolean(),
	query: z.unknown().optional(),
	debug: z.unknown().optional().meta(debugSchema),
});

/** The answer to one check. */
export type AuthorizationResult = z.output<typeof AuthorizationResult>;

/** The answers to many checks, in the order they were asked. */
export const BulkResult = z.object({ allow: z.array(AuthorizationResult) });

const tenant = z.object({ key: z.string(), attributes: z.unknown() });

const AllowedTenant = AuthorizationResult.extend({ tenant });

/** The tenants in which a check is allowed, by both names that clients look for. */
export const AllowedTenants = z.object({
	allowed_tenants: z.array(AllowedTenant),
	/** The same list: the Node SDK reads this one. */
	allowedTenants: z.array(AllowedTenant),
});

/** What a user may do on one object, by object id: `__tenant:<key>` for a tenant, `<type>:<key>` for an instance. */
export const UserPermissions = z.record(
	z.string(),
	z.object({
		/** The tenant, or that of the instance. */
		tenant,
		/** The instance, with the attributes that are stored; absent for a tenant. */
		resource: z.object({ type: z.string(), key: z.string(), attributes: z.unknown() }).optional(),
		/** `<resource>:<action>`, sorted. */
		permissions: z.array(z.string()),
		/** Keys of the roles held there, sorted. */
		roles: z.array(z.string()),
	}),
);

/** What a user may do, by object id. */
export type UserPermissions = z.output<typeof UserPermissions>;

/** Asks in which tenants a user holds a role. */
export const TenantsQuery = z.object({ user, context: attributes });

/** The tenants where a user holds a role. */
export const UserTenants = z.array(tenant);

/** Asks who may do an action on a resource. */
export const UsersQuery = z.object({ action: z.string(), resource, context: attributes, sdk: optionalText });

/** A question for users, after validation. */
export type UsersQuery = z.output<typeof UsersQuery>;

const grantingAssignment = z.object({
	user: z.string(),
	tenant: z.string(),
	/** Where the role is assigned: `__tenant:<key>`, or an instance `<type>:<key>`. */
	resource: z.string(),
	role: z.string().meta({ description: 'In a tenant the key of the role; on an instance `<type>#<key>`.' }),
});

type GrantingAssignment = z.output<typeof grantingAssignment>;

const { $schema: _, ...grantingAssignments } = z.toJSONSchema(z.array(grantingAssignment));

/** Who may do an action on a resource, and by which assignments of roles. */
export const AuthorizedUsers = z.object({
	/** `<type>:<key>`, or `<type>:*` without a key. */
	resource: z.string(),
	tenant: z.string(),
	/** By user. Not a record: those lose a member called `__proto__`, and that may be a user's key. */
	users: z
		.custom<Readonly<Record<string, readonly GrantingAssignment[]>>>()
		.meta({ type: 'object', additionalProperties: grantingAssignments }),
});

/** Who may do an action on a resource. */
export type AuthorizedUsers = z.output<typeof AuthorizedUsers>;

/** An empty filter counts as none. */
const nameFilter = z
	.string()
	.transform((text) => (text === '' ? undefined : text))
	.optional();

/** Which role assignments are asked for. */
export const LocalAssignmentsQuery = z.object({
	user: nameFilter,
	role: nameFilter,
	tenant: nameFilter,
	/** A resource type; `__tenant` stands for tenants. */
	resource: nameFilter,
	/** An instance `<type>:<key>`, or its bare key. */
	resource_instance: nameFilter,
	...pageShape,
});

/** Which role assignments are asked for, after validation. */
export type LocalAssignmentsQuery = z.output<typeof LocalAssignmentsQuery>;

/** A role assigned to a user, in a tenant or on an instance. */
export const LocalAssignment = z.object({
	user: z.string(),
	role: z.string(),
	/** The tenant, or that of the instance. */
	tenant: z.string(),
	/** `<type>:<key>`; absent for roles in tenants. */
	resource_instance: z.string().optional(),
});

/** A role assigned to a user. */
export type LocalAssignment = z.output<typeof LocalAssignment>;

/** The health of a decision point. Unless `status` is `unavailable`, it can answer checks. */
export const Health = z.object({
	status: z.enum(['ok', 'degraded', 'unavailable']),
	/** False while the control plane cannot be reached: answers may be behind. */
	online: z.boolean(),
	state: z.enum(['starting', 'ready', 'stale', 'refused', 'deleted']),
	/** What is wrong with what comes from the control plane, as far as everybody may know it; null otherwise. */
	detail: z.string().nullable(),
	/** The revision the answers come from; null before the first. */
	revision: z.number().nullable(),
	/** The newest revision whose policy is in force: less than `revision` while that waits for its policy. */
	policy_revision: z.number().nullable(),
	/**
	 * Why the policy in force is not the complete policy of the newest schema, since when, and how many revisions it is
	 * behind; null if it is. What those revisions take away is suspended, so answers are safe to act on.
	 */
	degraded: z
		.object({
			reason: z.enum(['compiling', 'failed', 'left_out']),
			since: z.string(),
			revisions_behind: z.number(),
		})
		.nullable(),
});

/** The health of a decision point. */
export type Health = z.output<typeof Health>;
