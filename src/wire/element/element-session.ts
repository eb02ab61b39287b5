import { z } from 'zod';
import { AlwaysNull, Name, optional, Reference, Timestamp, Uuid } from '../common.js';
import { HiddenText } from '../hidden-text.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { pageShape } from '../query.js';

export const ElementLogin = named('UserLoginRequestInput', 'User to sign in, and the tenant, each by id or key.', {
	user_id: Reference.describe('User to sign in: id or key.'),
	tenant_id: Reference.describe('Tenant to sign in to, by id or key. The user must be a member.'),
});
export type ElementLogin = z.output<typeof ElementLogin>;

export const ElementFrontendLogin = named(
	'UserFELoginRequestInput',
	'User sign-in with an application token. The claim contains the user key.',
	{
		tenant_id: Reference.describe('Tenant to sign in to, by id or key. The user must be a member.'),
		user_jwt: HiddenText.describe(
			"The user's token from your application, signed by a key in the environment's `jwks`.",
		),
		user_key_claim: optional(Name.min(1)).describe(
			'Token claim with the user key. Defaults to the claim set for the environment, then to `sub`.',
		),
	},
);

export const ElementLoginRead = named(
	'EmbeddedLoginRequestOutput',
	'A successful sign-in. Failures have a different form, so `error` and `error_code` are null.',
	{
		redirect_url: z.url().describe('URL where the browser receives its cookie.'),
		token: z.string().nullable().describe('Ticket in that URL; null if the cookie is already set.'),
		element_bearer_token: z
			.string()
			.describe('Identifies the user as `Authorization: Bearer` in browsers that block third-party cookies.'),
		error: AlwaysNull,
		error_code: AlwaysNull,
		// There is no `content` field: the SDKs add it themselves, and the Python SDK fails if it is already present.
		extra: AlwaysNull,
	},
);

/** Query for the sign-in URL. A malformed value is rejected in the same way as an invalid ticket. */
export const ElementLoginQuery = z.object({ token: z.unknown().optional(), env_id: z.unknown().optional() }).meta({
	type: 'object',
	properties: {
		token: { type: 'string', description: 'Sign-in ticket.' },
		env_id: { type: 'string', description: 'Environment for the requested page.' },
	},
});

export const LoginResult = named(
	'LoginResult',
	'Sign-in status for the browser. `expires_at` is in seconds since 1970.',
	{
		logged_in: z.boolean().describe('True if the user is signed in.'),
		expires_at: z.int().describe('Session expiry, in seconds since 1970.'),
		active_org_id: Uuid.nullable().describe('Id of the tenant that the user is signed in to.'),
	},
);
export type LoginResult = z.input<typeof LoginResult>;

export const ElementActor = named('ElementActor', 'The signed-in user. `expires_at` is in seconds since 1970.', {
	actor: z
		.object({
			org_id: Uuid.describe('Organization id.'),
			proj_id: Uuid.describe('Project id.'),
			env_id: Uuid.describe('Environment id.'),
			tenant_id: Uuid.describe('Tenant id.'),
			tenant_key: z.string().describe('Tenant key.'),
			user_id: Uuid.describe('User id.'),
			user_key: z.string().describe('User key.'),
		})
		.describe('The signed-in user and the tenant.'),
	expires_at: z.int().describe('Session expiry, in seconds since 1970.'),
});
export type ElementActor = z.input<typeof ElementActor>;

export const ElementSessionRead = named('ElementSessionRead', 'User session in elements, as administrators see it.', {
	id: Uuid.describe('Session id.'),
	organization_id: Uuid.describe('Organization id.'),
	project_id: Uuid.describe('Project id.'),
	environment_id: Uuid.describe('Environment id.'),
	user_id: Uuid.describe('User id.'),
	user: z.string().describe('User key.'),
	tenant_id: Uuid.describe('Tenant id.'),
	tenant: z.string().describe('Tenant key.'),
	created_at: Timestamp.describe('Sign-in time, in UTC.'),
	expires_at: Timestamp.describe('Session expiry, in UTC.'),
	last_used_at: Timestamp.nullable().describe('Last use, to the minute; null if never used.'),
});
export type ElementSessionRead = z.input<typeof ElementSessionRead>;

export const ElementSessionPage = paginated(ElementSessionRead);

/** Filters for element sessions. */
export const ElementSessionQuery = z.object({
	user: Reference.optional().describe('Only sessions for this user: id or key.'),
	...pageShape,
});

/** The user whose element sessions end. */
export const ElementSessionsOfUser = z.object({
	user: Reference.describe('User whose sessions end: id or key.'),
});
