/**
 * What decision points are asked and what they answer. Requests are read leniently, because clients send whole user
 * records.
 */

import { z } from 'zod';
import { abbreviated } from '../abbreviated.js';
import { refuseTooLarge } from '../attributes.js';
import { boundedArray, choice } from '../bounded.js';
import { tooManyMessage } from '../facts/bulk.js';
import { type JsonJudge, refuseFaults } from '../json-fault.js';
import { pageShape } from '../query.js';
import { DecidedQuery, DecisionReasons } from '../reasons.js';
import { unchecked } from '../unchecked.js';
import { DegradedReason } from './degraded-reason.js';

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
	.meta({ type: ['object', 'null'], additionalProperties: true });

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

const CheckUser = z
	.object({
		key: z.string().describe('The key of the user.'),
		first_name: optionalText.describe('The first name, for conditions that compare it.'),
		firstName: optionalText.describe('The same as `first_name`, which wins.'),
		last_name: optionalText.describe('The last name, for conditions that compare it.'),
		lastName: optionalText.describe('The same as `last_name`, which wins.'),
		email: optionalText.describe('The e-mail address, for conditions that compare it.'),
		attributes: attributes.describe('Attributes for conditions to compare, in place of stored ones of the same name.'),
	})
	.meta({ id: 'CheckUser', description: 'A user. Other members, as of a whole user record, are ignored.' });

const user = abbreviated(z.string().describe('The key of the user.'), CheckUser, (key) => ({ key })).meta({
	description: 'The user: the key alone, or an object.',
	example: 'ann@example.com',
});

const context = attributes.describe('Anything else that conditions compare.');

const sdk = optionalText.describe('What the client calls itself; changes nothing.');

function typeAndKey(text: string): { readonly type: string; readonly key?: string } {
	const colon = text.indexOf(':');
	return colon === -1 ? { type: text } : { type: text.slice(0, colon), key: text.slice(colon + 1) };
}

const CheckResource = z
	.object({
		type: z.string().describe('The key of the resource.'),
		key: optionalText.describe('The key of the instance; without it, the check is about the resource as such.'),
		tenant: optionalText.describe('The key of the tenant; `default` when left out.'),
		attributes: attributes.describe('Attributes for conditions to compare, in place of stored ones of the same name.'),
	})
	.meta({ id: 'CheckResource', description: 'A resource, or an instance of one.' });

const resource = abbreviated(
	z.string().describe('The key of the resource, or an instance as `<type>:<key>`; the tenant is `default`.'),
	CheckResource,
	typeAndKey,
).meta({ description: 'The resource or instance: text, or an object.', example: { type: 'document', tenant: 'acme' } });

const action = z.string().describe('The key of the action.');

/** One check as clients send it. Unknown members are ignored, `null` is absent, user and resource may be strings. */
export const Query = z
	.object({
		user,
		action,
		resource,
		context,
		sdk,
		use_debugger: useDebugger,
	})
	.meta({ id: 'Check', description: 'May this user do this action on this resource? Unknown members are ignored.' });

/** One check as clients send it, after validation. */
export type Query = z.output<typeof Query>;

/** The most checks of one request. */
export const maxBulkChecks = 10_000;

const checks = boundedArray(Query, maxBulkChecks, tooManyMessage(maxBulkChecks, 'checks'));

/** Many checks: a bare array of them, or the array as member `checks`. */
export const BulkQuery = choice(
	Array.isArray,
	checks,
	z.object({ checks: checks.describe('The checks, in order.') }),
).transform((given): readonly Query[] => ('checks' in given ? given.checks : given));

/**
 * One check for all tenants: the check, or as the Node SDK sends it, with its headers beside it. A tenant of the
 * resource is ignored.
 */
export const AllTenantsQuery = choice(
	(value) => typeof value === 'object' && value !== null && 'params' in value,
	z.object({
		params: Query,
		headers: z
			.object({
				Authorization: optionalText.describe('The API key, as `Bearer <key>`, where the header itself is not sent.'),
			})
			.nullish()
			.describe('What the Node SDK sends in place of headers.'),
	}),
	Query,
).transform((given): Query => ('params' in given ? given.params : given));

const filter = boundedArray(z.string()).nullish();

/** Asks what a user may do. A filter that is absent, null or empty lets everything through. */
export const PermissionsQuery = z
	.object({
		user,
		tenants: filter.describe('Only in these tenants: their keys, or `__tenant:<key>`.'),
		resources: filter.describe('Only on these objects: `<type>:<key>`, `__tenant:<key>` or bare keys.'),
		resource_types: filter.describe(
			'Only on objects of these resources; `__tenant` stands for the tenants themselves.',
		),
		context: context.describe(
			'Anything else that conditions compare; `enable_abac_user_permissions: true` takes conditions into account.',
		),
	})
	.meta({
		id: 'PermissionsQuery',
		description: 'What may this user do? A filter that is absent, null or empty lets everything through.',
	});

/** A question for permissions, after validation. */
export type PermissionsQuery = z.output<typeof PermissionsQuery>;

/** The longest URL of a check, in characters. */
export const maxUrlLength = 8_192;

/** One check that names a request to a URL in place of action and resource. */
export const UrlQuery = z
	.object({
		user,
		http_method: z.string().max(64).describe('The method of the request; its case does not matter.'),
		url: z
			.string()
			.max(maxUrlLength)
			.refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), 'must be an absolute http or https URL')
			.describe('The URL of the request: absolute, http or https.'),
		tenant: z.string().describe('The key of the tenant.'),
		context,
		sdk,
		use_debugger: useDebugger,
	})
	.meta({ id: 'UrlCheck', description: 'May this user make this request to a URL?' });

/** A check of a request to a URL, after validation. */
export type UrlQuery = z.output<typeof UrlQuery>;

/** The most common answer, for the documentation. */
const plainAnswer = { allow: true, result: true };

/** The answer to one check. `result` repeats `allow` for old clients; the rest is there only when asked for. */
export const AuthorizationResult = z
	.object({
		allow: z.boolean().describe('Whether the user may do it.'),
		result: z.boolean().describe('The same as `allow`, for old clients.'),
		query: unchecked(DecidedQuery).optional(),
		debug: unchecked(DecisionReasons).optional(),
	})
	.meta({
		id: 'AuthorizationResult',
		description:
			'The answer to a check. A denial is an answer like any other. `query` and `debug` come when asked for.',
		example: plainAnswer,
	});

/** The answer to one check. */
export type AuthorizationResult = z.output<typeof AuthorizationResult>;

/** The answers to many checks, in the order they were asked. */
export const BulkResult = z
	.object({ allow: z.array(AuthorizationResult).describe('The answers, in the order of the checks.') })
	.meta({ id: 'AuthorizationResults', description: 'The answers to many checks, all from one revision.' });

/** The answer to the check of a request to a URL. `query` and `debug` are always present when no rule matches. */
export const UrlAuthorizationResult = z
	.object({
		...AuthorizationResult.shape,
		query: unchecked(
			z.union([
				DecidedQuery,
				z
					.looseObject({
						user: z.looseObject({ key: z.string().describe('The key of the user.') }).describe('The user.'),
						http_method: z.string().describe('The method of the request.'),
						url: z.string().describe('The URL of the request.'),
						tenant: z.string().describe('The key of the tenant.'),
					})
					.meta({ id: 'UnmatchedQuery', description: 'A request that no mapping rule matches, as it was asked.' }),
			]),
		)
			.optional()
			.describe('The check that the request stands for, or the request where no mapping rule matches.'),
	})
	.meta({
		id: 'UrlAuthorizationResult',
		description: 'The answer to the check of a request to a URL.',
		example: plainAnswer,
	});

const Attributes = z.record(z.string(), z.unknown());

const tenant = z
	.object({
		key: z.string().describe('The key of the tenant.'),
		attributes: unchecked(Attributes).describe('Its attributes.'),
	})
	.meta({ id: 'ListedTenant', description: 'A tenant, with what conditions compare of it.' });

const AllowedTenant = AuthorizationResult.extend({ tenant }).meta({
	id: 'AllowedTenant',
	description: 'A tenant in which the check is allowed.',
	example: { tenant: { key: 'acme', attributes: {} }, ...plainAnswer },
});

/** The tenants in which a check is allowed, by both names that clients look for. */
export const AllowedTenants = z
	.object({
		allowed_tenants: z.array(AllowedTenant).describe('The tenants.'),
		allowedTenants: z.array(AllowedTenant).describe('The same list: the Node SDK reads this one.'),
	})
	.meta({ id: 'AllowedTenants', description: 'The tenants in which a check is allowed.' });

/** What a user may do on one object, by object id: `__tenant:<key>` for a tenant, `<type>:<key>` for an instance. */
export const UserPermissions = z
	.record(
		z.string(),
		z
			.object({
				tenant: tenant.describe('The tenant, or that of the instance.'),
				resource: z
					.object({
						type: z.string().describe('The key of the resource.'),
						key: z.string().describe('The key of the instance.'),
						attributes: unchecked(Attributes).describe('Always `{}`.'),
					})
					.optional()
					.describe('The instance; absent for a tenant.'),
				permissions: z.array(z.string()).describe('What the user may do there, as `<resource>:<action>`, sorted.'),
				roles: z.array(z.string()).describe('The keys of the roles held there, sorted.'),
			})
			.meta({ id: 'ObjectPermissions', description: 'What a user may do in one tenant or on one instance.' }),
	)
	.meta({
		id: 'UserPermissions',
		description: 'What a user may do, by object: `__tenant:<key>` for a tenant, `<type>:<key>` for an instance.',
		example: {
			'__tenant:acme': {
				tenant: { key: 'acme', attributes: {} },
				permissions: ['document:read', 'document:write'],
				roles: ['editor'],
			},
		},
	});

/** What a user may do, by object id. */
export type UserPermissions = z.output<typeof UserPermissions>;

/** Asks in which tenants a user holds a role. */
export const TenantsQuery = z
	.object({ user, context: context.describe('Ignored.') })
	.meta({ id: 'TenantsQuery', description: 'In which tenants does this user hold a role?' });

/** The tenants where a user holds a role. */
export const UserTenants = z.array(tenant).describe('The tenants where a user holds a role.');

/** Asks who may do an action on a resource. */
export const UsersQuery = z
	.object({
		action,
		resource,
		context: context.describe(
			'Anything else that conditions compare; `enable_abac_authorized_users: true` takes conditions into account.',
		),
		sdk,
	})
	.meta({ id: 'UsersQuery', description: 'Who may do this action on this resource?' });

/** A question for users, after validation. */
export type UsersQuery = z.output<typeof UsersQuery>;

const GrantingAssignment = z
	.object({
		user: z.string().describe('The key of the user.'),
		tenant: z.string().describe('The key of the tenant.'),
		resource: z.string().describe('Where the role is assigned: `__tenant:<key>`, or an instance `<type>:<key>`.'),
		role: z.string().describe('In a tenant the key of the role; on an instance `<type>#<key>`.'),
	})
	.meta({ id: 'GrantingAssignment', description: 'An assignment of a role that grants the action.' });

type GrantingAssignment = z.output<typeof GrantingAssignment>;

/** Who may do an action on a resource, and by which assignments of roles. */
export const AuthorizedUsers = z
	.object({
		resource: z.string().describe('`<type>:<key>`, or `<type>:*` without a key.'),
		tenant: z.string().describe('The key of the tenant.'),
		// It is not checked, because checking copies, and a copy loses a member named `__proto__`, which may be the key of a user.
		users: unchecked<Readonly<Record<string, readonly GrantingAssignment[]>>>(
			z.record(z.string(), z.array(GrantingAssignment)),
		).describe(
			'By the key of the user, the assignments that grant the action; none for who is allowed by conditions alone.',
		),
	})
	.meta({
		id: 'AuthorizedUsers',
		description: 'Who may do an action on a resource, and by which assignments.',
		example: {
			resource: 'document:plan',
			tenant: 'acme',
			users: {
				'ann@example.com': [{ user: 'ann@example.com', tenant: 'acme', resource: '__tenant:acme', role: 'editor' }],
			},
		},
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
	user: nameFilter.describe('Only roles of the user with this key.'),
	role: nameFilter.describe('Only roles with this key.'),
	tenant: nameFilter.describe('Only roles in the tenant with this key.'),
	resource: nameFilter.describe(
		'Only roles on instances of the resource with this key; `__tenant` for roles in tenants.',
	),
	resource_instance: nameFilter.describe('Only roles on this instance: `<type>:<key>`, or its bare key.'),
	...pageShape,
});

/** Which role assignments are asked for, after validation. */
export type LocalAssignmentsQuery = z.output<typeof LocalAssignmentsQuery>;

/** A role assigned to a user, in a tenant or on an instance. */
export const LocalAssignment = z
	.object({
		user: z.string().describe('The key of the user.'),
		role: z.string().describe('The key of the role.'),
		tenant: z.string().describe('The key of the tenant, or of that of the instance.'),
		resource_instance: z.string().optional().describe('`<type>:<key>`; absent for roles in tenants.'),
	})
	.meta({
		id: 'RoleAssignment',
		description: 'A role assigned to a user, in a tenant or on an instance.',
		example: { user: 'ann@example.com', role: 'viewer', tenant: 'acme', resource_instance: 'document:plan' },
	});

/** A role assigned to a user. */
export type LocalAssignment = z.output<typeof LocalAssignment>;

/** The health of a decision point. Unless `status` is `unavailable`, it can answer checks. */
export const Health = z
	.object({
		status: z
			.enum(['ok', 'degraded', 'unavailable'])
			.describe(
				'Unless it is `unavailable`, checks are answered; `degraded` where the policy is behind or the ' +
					'environment was deleted.',
			),
		online: z.boolean().describe('False while the control plane cannot be reached: answers may be behind.'),
		state: z
			.enum(['starting', 'ready', 'stale', 'refused', 'deleted'])
			.describe('The state of what comes from the control plane.'),
		detail: z
			.string()
			.nullable()
			.describe(
				'What is wrong with what comes from the control plane, as far as everybody may know it; null otherwise.',
			),
		lineage: z
			.string()
			.nullable()
			.default(null)
			.describe('The lineage of the database that the revision is of; null before the first.'),
		left_lineage: z
			.object({
				lineage: z.string().describe('The lineage.'),
				revision: z.number().describe('The last revision of it that answers came from.'),
				at: z.iso.datetime().describe('When it was left, in UTC.'),
			})
			.nullable()
			.default(null)
			.describe(
				'The lineage that the decision point has left last, because a failover, a restore or an operator began another ' +
					'one; null if there is none.',
			),
		update_id: z
			.string()
			.nullable()
			.default(null)
			.describe('The refresh that the decision point took last (`POST .../configs/refresh`); null before the first.'),
		revision: z.number().nullable().describe('The revision that answers come from; null before the first.'),
		policy_revision: z
			.number()
			.nullable()
			.describe('The newest revision whose policy is in force: less than `revision` while that waits for its policy.'),
		degraded: z
			.object({
				reason: DegradedReason,
				since: z.string().describe('Since when, in UTC.'),
				revisions_behind: z.number().describe('How many revisions of the environment lie between.'),
			})
			.nullable()
			.describe(
				'Why the policy in force is not the complete policy of the newest schema; null if it is. What those revisions ' +
					'take away is suspended, so answers are safe to act on.',
			),
	})
	.meta({
		id: 'Health',
		description: 'The health of a decision point.',
		example: {
			status: 'ok',
			online: true,
			state: 'ready',
			detail: null,
			lineage: 'd3b07384d113edec',
			left_lineage: null,
			update_id: null,
			revision: 12,
			policy_revision: 12,
			degraded: null,
		},
	});

/** The health of a decision point. */
export type Health = z.output<typeof Health>;
