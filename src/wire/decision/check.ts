/**
 * Requests to decision points, and their responses. Requests are validated leniently, because clients send whole user
 * records.
 */

import { z } from 'zod';
import { type UserSet, userSetParts } from '../../../compiler/user-set.js';
import { abbreviated } from '../abbreviated.js';
import { refuseTooLarge } from '../attributes.js';
import { boundedArray, choice } from '../bounded.js';
import { maxKeyLength } from '../common.js';
import { tooManyMessage } from '../facts/bulk.js';
import { type JsonJudge, refuseFaults } from '../json-fault.js';
import { named } from '../named.js';
import { pageShape } from '../query.js';
import { DecidedQuery, DecisionReasons } from '../reasons.js';
import { unchecked } from '../unchecked.js';
import { ContextualFacts, noContextualFacts } from './contextual-facts.js';
import { DegradedReason } from './degraded-reason.js';

const optionalText = z.string().nullish();

/**
 * JSON object that is passed on unchanged. Null is treated as absent. It is not a record schema, because zod copies
 * records, and the copy loses a property named `__proto__`.
 */
export const attributes = z
	.custom<Readonly<Record<string, unknown>> | null | undefined>(
		(value) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value)),
		'must be an object',
	)
	.superRefine((value, ctx) => {
		// Check the size first. Walking a value within the limit is cheap.
		if (!refuseTooLarge(value, ctx)) refuseFaults(value, finite, ctx);
	})
	.optional()
	.meta({ type: ['object', 'null'], additionalProperties: true });

/**
 * `JSON.parse` reads some numbers, such as 1e999, as infinity. A policy would receive null instead of the number, so
 * negated conditions on the number would be true.
 */
const finite: JsonJudge = {
	leaf: (value) => (typeof value === 'number' && !Number.isFinite(value) ? 'must be a finite number' : null),
};

/** Requests the reasons in `debug`. It can also request the attempts. */
const useDebugger = z
	.union([z.boolean(), z.literal('attempts')], 'must be true, false or "attempts"')
	.nullish()
	.meta({ description: 'True adds the reasons as `debug`; `attempts` also adds `debug.attempts`.' });

const CheckUser = named('CheckUser', 'A user. Other fields, such as the rest of a user record, are ignored.', {
	key: z.string().describe('User key.'),
	first_name: optionalText.describe('First name, for conditions that compare it.'),
	firstName: optionalText.describe('Same as `first_name`, which takes precedence.'),
	last_name: optionalText.describe('Last name, for conditions that compare it.'),
	lastName: optionalText.describe('Same as `last_name`, which takes precedence.'),
	email: optionalText.describe('E-mail address, for conditions that compare it.'),
	attributes: attributes.describe(
		'Attributes for conditions to compare. They replace stored attributes with the same name.',
	),
});

export const user = abbreviated(z.string().describe('User key.'), CheckUser, (key) => ({ key })).meta({
	description: 'The user: a key, or an object.',
	example: 'ann@example.com',
});

const CheckSet = z
	.object({
		set: z
			.string()
			.max(3 * maxKeyLength)
			.refine((text) => userSetParts(text) !== null, 'must be `<type>:<key>#<role>`')
			.describe('All users who hold this role on this instance, as `<type>:<key>#<role>`.'),
	})
	.transform(({ set }): z.output<typeof CheckUser> & { readonly set?: UserSet } => {
		const parts = userSetParts(set);
		return { key: set, ...(parts !== null && { set: parts }) };
	})
	.meta({
		id: 'CheckSet',
		description: 'A set of users instead of a user. It has only this role, and no attributes.',
	});

/** The user of a check, or a set of users. An object with `key` is a user; its field `set`, if any, is ignored. */
export const subject = choice(
	(value) => typeof value === 'object' && value !== null && 'set' in value && !('key' in value),
	CheckSet,
	user,
).meta({ description: 'The user: a key, an object, or a set of users.', example: 'ann@example.com' });

const context = attributes.describe('Other data for conditions to compare.');

const sdk = optionalText.describe('Client name; has no effect.');

/** Splits an abbreviated resource. The key is absent for a resource type. */
export function typeAndKey(text: string): { readonly type: string; readonly key?: string } {
	const colon = text.indexOf(':');
	return colon === -1 ? { type: text } : { type: text.slice(0, colon), key: text.slice(colon + 1) };
}

const CheckResource = named('CheckResource', 'A resource type, or an instance of it.', {
	type: z.string().describe('Resource key.'),
	key: optionalText.describe('Instance key; without it, the check is about the resource type.'),
	tenant: optionalText.describe('Tenant key; defaults to `default`.'),
	attributes: attributes.describe(
		'Attributes for conditions to compare. They replace stored attributes with the same name.',
	),
});

const resource = abbreviated(
	z.string().describe('Resource key, or an instance as `<type>:<key>`; the tenant is `default`.'),
	CheckResource,
	typeAndKey,
).meta({
	description: 'The resource or instance: a string, or an object.',
	example: { type: 'document', tenant: 'acme' },
});

const action = z.string().describe('Action key.');

/**
 * A check in the format that clients send. Unknown fields are ignored, and `null` is treated as absent. The user and
 * the resource may be strings.
 */
export const Query = named('Check', 'May this user perform this action on this resource? Unknown fields are ignored.', {
	user: subject,
	action,
	resource,
	context,
	contextual_facts: ContextualFacts.nullish().describe(
		'Facts for this check, which are not stored. 403 unless the environment setting `contextual_facts` is true.',
	),
	sdk,
	use_debugger: useDebugger,
});

/** A validated check. */
export type Query = z.output<typeof Query>;

/** Maximum number of checks per request. */
export const maxBulkChecks = 10_000;

const checks = boundedArray(Query, maxBulkChecks, tooManyMessage(maxBulkChecks, 'checks'));

/** Several checks: an array, or an object with the array in `checks`. */
export const BulkQuery = choice(
	Array.isArray,
	checks,
	z.object({ checks: checks.describe('Checks, in order.') }),
).transform((given): readonly Query[] => ('checks' in given ? given.checks : given));

/**
 * A check in all tenants: the check itself, or the Node SDK's format with the headers next to the check. The resource's
 * tenant, if any, is ignored.
 */
export const AllTenantsQuery = choice(
	(value) => typeof value === 'object' && value !== null && 'params' in value,
	z.object({
		params: Query,
		headers: z
			.object({
				Authorization: optionalText.describe('API key, as `Bearer <key>`, if the header itself is not sent.'),
			})
			.nullish()
			.describe('Headers in the body, as the Node SDK sends them.'),
	}),
	Query,
).transform((given): Query => ('params' in given ? given.params : given));

const filter = boundedArray(z.string()).nullish();

/** Query for a user's permissions. If a filter is absent, null or empty, it matches everything. */
export const PermissionsQuery = named(
	'PermissionsQuery',
	'Which permissions does this user have? A filter that is absent, null or empty matches everything.',
	{
		user: subject,
		tenants: filter.describe('Only these tenants: keys, or `__tenant:<key>`.'),
		resources: filter.describe('Only these objects: `<type>:<key>`, `__tenant:<key>` or bare keys.'),
		resource_types: filter.describe(
			'Only objects with these resource types; `__tenant` selects the tenants themselves.',
		),
		context: context.describe(
			'Other data for conditions to compare; `enable_abac_user_permissions: true` evaluates conditions.',
		),
		contextual_facts: ContextualFacts.nullish().describe(
			'Facts for this listing, which are not stored. 403 unless the environment setting `contextual_facts` is true.',
		),
	},
);

export type PermissionsQuery = z.output<typeof PermissionsQuery>;

/** Maximum URL length in a check, in characters. */
export const maxUrlLength = 8_192;

/** Check for an HTTP request. The method and the URL replace the action and the resource. */
export const UrlQuery = named('UrlCheck', 'May this user send this request to a URL?', {
	user,
	http_method: z.string().max(64).describe('HTTP method, in any case.'),
	url: z
		.string()
		.max(maxUrlLength)
		.refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), 'must be an absolute http or https URL')
		.describe('Request URL: absolute, http or https.'),
	tenant: z.string().describe('Tenant key.'),
	context,
	contextual_facts: noContextualFacts,
	sdk,
	use_debugger: useDebugger,
});

export type UrlQuery = z.output<typeof UrlQuery>;

/** The most common response, shown in the documentation. */
const plainAnswer = { allow: true, result: true };

/**
 * Check result. `result` repeats `allow` for old clients. `query` and `debug` are present only on request.
 */
export const AuthorizationResult = z
	.object({
		allow: z.boolean().describe('True if the user may perform the action.'),
		result: z.boolean().describe('Same as `allow`, for old clients.'),
		query: unchecked(DecidedQuery).optional(),
		debug: unchecked(DecisionReasons).optional(),
	})
	.meta({
		id: 'AuthorizationResult',
		description: 'Check result. A denial is a normal result. `query` and `debug` are present if requested.',
		example: plainAnswer,
	});

export type AuthorizationResult = z.output<typeof AuthorizationResult>;

/** Results for several checks, in request order. */
export const BulkResult = named('AuthorizationResults', 'Results for multiple checks, all from one revision.', {
	allow: z.array(AuthorizationResult).describe('Results, in request order.'),
});

/** URL check result. If no mapping rule matches, `query` and `debug` are always present. */
export const UrlAuthorizationResult = z
	.object({
		...AuthorizationResult.shape,
		query: unchecked(
			z.union([
				DecidedQuery,
				z
					.looseObject({
						user: z.looseObject({ key: z.string().describe('User key.') }).describe('Requesting user.'),
						http_method: z.string().describe('HTTP method.'),
						url: z.string().describe('Request URL.'),
						tenant: z.string().describe('Tenant key.'),
					})
					.meta({ id: 'UnmatchedQuery', description: 'A request without a matching mapping rule, as sent.' }),
			]),
		)
			.optional()
			.describe('The check that the URL maps to, or the request if no mapping rule matches.'),
	})
	.meta({ id: 'UrlAuthorizationResult', description: 'URL check result.', example: plainAnswer });

const Attributes = z.record(z.string(), z.unknown());

const tenant = named('ListedTenant', 'A tenant, with its attributes for conditions.', {
	key: z.string().describe('Tenant key.'),
	attributes: unchecked(Attributes).describe('Tenant attributes.'),
});

const AllowedTenant = AuthorizationResult.extend({ tenant }).meta({
	id: 'AllowedTenant',
	description: 'A tenant in which the check is allowed.',
	example: { tenant: { key: 'acme', attributes: {} }, ...plainAnswer },
});

/** Tenants in which a check is allowed. The list is repeated under the two field names that clients read. */
export const AllowedTenants = named('AllowedTenants', 'Tenants in which the check is allowed.', {
	allowed_tenants: z.array(AllowedTenant).describe('Tenants with an allowed check.'),
	allowedTenants: z.array(AllowedTenant).describe('Same list, for the Node SDK.'),
});

/**
 * A user's permissions, keyed by object id. The id is `__tenant:<key>` for a tenant and `<type>:<key>` for an instance.
 */
export const UserPermissions = z
	.record(
		z.string(),
		named('ObjectPermissions', 'User permissions in one tenant or on one instance.', {
			tenant: tenant.describe('The tenant, or the tenant of the instance.'),
			resource: z
				.object({
					type: z.string().describe('Resource key.'),
					key: z.string().describe('Instance key.'),
					attributes: unchecked(Attributes).describe('Always `{}`.'),
				})
				.optional()
				.describe('The instance; absent for a tenant.'),
			permissions: z.array(z.string()).describe('User permissions on the object, as `<resource>:<action>`, sorted.'),
			roles: z.array(z.string()).describe('Keys of roles held on the object, sorted.'),
		}),
	)
	.meta({
		id: 'UserPermissions',
		description: 'User permissions by object: `__tenant:<key>` for a tenant, `<type>:<key>` for an instance.',
		example: {
			'__tenant:acme': {
				tenant: { key: 'acme', attributes: {} },
				permissions: ['document:read', 'document:write'],
				roles: ['editor'],
			},
		},
	});

export type UserPermissions = z.output<typeof UserPermissions>;

/** Query for the tenants in which a user has a role. */
export const TenantsQuery = named('TenantsQuery', 'In which tenants does this user hold a role?', {
	user: subject,
	context: context.describe('Other data for conditions of role assignments to compare.'),
	contextual_facts: noContextualFacts,
});

export const UserTenants = z.array(tenant).describe('Tenants in which the user holds a role.');

/** Query for the users who may perform an action on a resource. */
export const UsersQuery = named('UsersQuery', 'Which users may perform this action on this resource?', {
	action,
	resource,
	context: context.describe(
		'Other data for conditions to compare; `enable_abac_authorized_users: true` evaluates conditions.',
	),
	contextual_facts: noContextualFacts,
	sdk,
});

export type UsersQuery = z.output<typeof UsersQuery>;

/** An assignment's condition in a response. */
const heldCondition = z
	.object({
		set: z.string().describe('Key of the condition set.'),
		values: z.record(z.string(), z.unknown()).describe('Values for the parameters of the set.'),
	})
	.optional()
	.describe('Condition of the assignment; absent if there is none.');

const GrantingAssignment = named('GrantingAssignment', 'A role assignment that grants the action.', {
	user: z.string().describe('User key.'),
	tenant: z.string().describe('Tenant key.'),
	resource: z.string().describe('Assignment object: `__tenant:<key>`, or an instance `<type>:<key>`.'),
	role: z.string().describe('Role key for a tenant role; `<type>#<key>` for a role on an instance.'),
	condition: heldCondition,
});

type GrantingAssignment = z.output<typeof GrantingAssignment>;

/** Users who may perform an action on a resource, with the role assignments that grant the action. */
export const AuthorizedUsers = z
	.object({
		resource: z.string().describe('`<type>:<key>`, or `<type>:*` without a key.'),
		tenant: z.string().describe('Tenant key.'),
		// This record is unchecked, because zod copies checked records. The copy would lose a property named `__proto__`,
		// which may be a user key.
		users: unchecked<Readonly<Record<string, readonly GrantingAssignment[]>>>(
			z.record(z.string(), z.array(GrantingAssignment)),
		).describe(
			'Granting assignments by user key; the list is empty for a user allowed by conditions alone. The key `*` means ' +
				'all users; individual users are then listed only with their own assignments.',
		),
	})
	.meta({
		id: 'AuthorizedUsers',
		description: 'Users who may perform an action on a resource, with the granting assignments.',
		example: {
			resource: 'document:plan',
			tenant: 'acme',
			users: {
				'ann@example.com': [{ user: 'ann@example.com', tenant: 'acme', resource: '__tenant:acme', role: 'editor' }],
			},
		},
	});

export type AuthorizedUsers = z.output<typeof AuthorizedUsers>;

/** An empty filter is treated as absent. */
const nameFilter = z
	.string()
	.transform((text) => (text === '' ? undefined : text))
	.optional();

/** Filters for role assignments. */
export const LocalAssignmentsQuery = z.object({
	user: nameFilter.describe('Only roles held by the user with this key.'),
	role: nameFilter.describe('Only roles with this key.'),
	tenant: nameFilter.describe('Only roles in the tenant with this key.'),
	resource: nameFilter.describe('Only roles on instances with this resource key; `__tenant` selects tenant roles.'),
	resource_instance: nameFilter.describe('Only roles on this instance: `<type>:<key>`, or its bare key.'),
	...pageShape,
});

export type LocalAssignmentsQuery = z.output<typeof LocalAssignmentsQuery>;

export const LocalAssignment = z
	.object({
		user: z.string().describe('User key.'),
		role: z.string().describe('Role key.'),
		tenant: z.string().describe("Key of the tenant, or of the instance's tenant."),
		resource_instance: z.string().optional().describe('`<type>:<key>`; absent for tenant roles.'),
		condition: heldCondition,
	})
	.meta({
		id: 'RoleAssignment',
		description: 'A role assigned to a user, in a tenant or on an instance.',
		example: { user: 'ann@example.com', role: 'viewer', tenant: 'acme', resource_instance: 'document:plan' },
	});

export type LocalAssignment = z.output<typeof LocalAssignment>;

/** Decision point health. Unless `status` is `unavailable`, the decision point serves checks. */
export const Health = z
	.object({
		status: z
			.enum(['ok', 'degraded', 'unavailable'])
			.describe(
				'Checks are served unless this is `unavailable`. `degraded`: ' +
					'the policy is behind or the environment was deleted.',
			),
		online: z.boolean().describe('False if the control plane is unreachable, so decisions may be outdated.'),
		state: z.enum(['starting', 'ready', 'stale', 'refused', 'deleted']).describe('State of the control plane data.'),
		detail: z
			.string()
			.nullable()
			.describe(
				'Problem with the data from the control plane, without confidential details; null if there is no problem.',
			),
		lineage: z
			.string()
			.nullable()
			.default(null)
			.describe('Database lineage that the revision belongs to; null before the first revision.'),
		left_lineage: z
			.object({
				lineage: z.string().describe('Lineage id.'),
				revision: z.number().describe('Last revision used from this lineage.'),
				at: z.iso.datetime().describe('Time of the switch, in UTC.'),
			})
			.nullable()
			.default(null)
			.describe(
				'The previous lineage, which the decision point left because a failover, a ' +
					'restore or an operator started a new lineage; null if there is none.',
			),
		update_id: z
			.string()
			.nullable()
			.default(null)
			.describe('Last applied refresh (`POST .../configs/refresh`); null before the first.'),
		revision: z.number().nullable().describe('Revision used for decisions; null before the first.'),
		policy_revision: z
			.number()
			.nullable()
			.describe('Newest revision whose policy is active: less than `revision` while a newer policy is pending.'),
		degraded: z
			.object({
				reason: DegradedReason,
				since: z.string().describe('Start of this state, in UTC.'),
				revisions_behind: z
					.number()
					.describe('Number of environment revisions between the active policy and the newest schema.'),
			})
			.nullable()
			.describe(
				'Why the active policy is not the complete policy of the newest schema; null if it is. ' +
					'Permissions removed by newer revisions are suspended, so decisions are safe to act on.',
			),
	})
	.meta({
		id: 'Health',
		description: 'Decision point health.',
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

export type Health = z.output<typeof Health>;
