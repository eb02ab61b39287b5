import { z } from 'zod';
import { AlwaysNull, Name, optional, Reference, Timestamp, Uuid } from '../common.js';
import { HiddenText } from '../hidden-text.js';
import { paginated } from '../list.js';
import { pageShape } from '../query.js';

/** Who is to be signed in where, each by id or key (spec: Authentication, 2 and 3). */
export const ElementLogin = z
	.object({
		user_id: Reference.describe('The user to sign in: its id or key.'),
		tenant_id: Reference.describe('The tenant to sign in to, of which the user is a member: its id or key.'),
	})
	.meta({ id: 'UserLoginRequestInput', description: 'Who is to be signed in where, each by id or key.' });
export type ElementLogin = z.output<typeof ElementLogin>;

/** Where a user with a token of the application signs in. The claim holds the key of the user. */
export const ElementFrontendLogin = z
	.object({
		tenant_id: Reference.describe('The tenant to sign in to, of which the user is a member: its id or key.'),
		user_jwt: HiddenText.describe("The user's token of your application, signed by a key of the environment's `jwks`."),
		user_key_claim: optional(Name.min(1)).describe(
			'The claim of the token that holds the key of the user; `sub` when neither this nor the environment names one.',
		),
	})
	.meta({
		id: 'UserFELoginRequestInput',
		description: 'Where a user with a token of the application signs in. The claim holds the key of the user.',
	});
export type ElementFrontendLogin = z.output<typeof ElementFrontendLogin>;

/** A sign-in. Failures are no answers of this kind, so `error` and `error_code` are null. */
export const ElementLoginRead = z
	.object({
		redirect_url: z.url().describe('Where the browser goes to get its cookie.'),
		token: z.string().nullable().describe('The ticket in that address; null where the cookie is set already.'),
		element_bearer_token: z
			.string()
			.describe('Stands for the user as `Authorization: Bearer`, where cookies of other sites are blocked.'),
		error: AlwaysNull,
		error_code: AlwaysNull,
		// No `content`: the SDKs add it themselves, and the one for Python fails where it is there already.
		extra: AlwaysNull,
	})
	.meta({
		id: 'EmbeddedLoginRequestOutput',
		description: 'A sign-in. Failures are no answers of this kind, so `error` and `error_code` are null.',
	});
export type ElementLoginRead = z.input<typeof ElementLoginRead>;

/** The query of the address that a sign-in leads to. Anything that is no ticket is refused as a ticket. */
export const ElementLoginQuery = z.object({ token: z.unknown().optional(), env_id: z.unknown().optional() }).meta({
	type: 'object',
	properties: {
		token: { type: 'string', description: 'The ticket of a sign-in.' },
		env_id: { type: 'string', description: 'The environment that a page was asked for.' },
	},
});

/** What a browser learns of its sign-in. `expires_at` is in seconds since 1970. */
export const LoginResult = z
	.object({
		logged_in: z.boolean().describe('Whether the user is signed in.'),
		expires_at: z.int().describe('When the sign-in ends, in seconds since 1970.'),
		active_org_id: Uuid.nullable().describe('The id of the tenant that the user is signed in to.'),
	})
	.meta({
		id: 'LoginResult',
		description: 'What a browser learns of its sign-in. `expires_at` is in seconds since 1970.',
	});
export type LoginResult = z.input<typeof LoginResult>;

/** Who is signed in. `expires_at` is in seconds since 1970. */
export const ElementActor = z
	.object({
		actor: z
			.object({
				org_id: Uuid.describe('The id of the organization.'),
				proj_id: Uuid.describe('The id of the project.'),
				env_id: Uuid.describe('The id of the environment.'),
				tenant_id: Uuid.describe('The id of the tenant.'),
				tenant_key: z.string().describe('The key of the tenant.'),
				user_id: Uuid.describe('The id of the user.'),
				user_key: z.string().describe('The key of the user.'),
			})
			.describe('Who is signed in, and where.'),
		expires_at: z.int().describe('When the sign-in ends, in seconds since 1970.'),
	})
	.meta({ id: 'ElementActor', description: 'Who is signed in. `expires_at` is in seconds since 1970.' });
export type ElementActor = z.input<typeof ElementActor>;

/** A sign-in as administrators see it. */
export const ElementSessionRead = z
	.object({
		id: Uuid.describe('The id of the session.'),
		organization_id: Uuid.describe('The id of the organization.'),
		project_id: Uuid.describe('The id of the project.'),
		environment_id: Uuid.describe('The id of the environment.'),
		user_id: Uuid.describe('The id of the user.'),
		user: z.string().describe('The key of the user.'),
		tenant_id: Uuid.describe('The id of the tenant.'),
		tenant: z.string().describe('The key of the tenant.'),
		created_at: Timestamp.describe('When the user signed in, in UTC.'),
		expires_at: Timestamp.describe('When the sign-in ends, in UTC.'),
		last_used_at: Timestamp.nullable().describe('When it was last used, to the minute; null if never.'),
	})
	.meta({ id: 'ElementSessionRead', description: 'A sign-in as administrators see it.' });
export type ElementSessionRead = z.input<typeof ElementSessionRead>;

/** One page of sign-ins. */
export const ElementSessionPage = paginated(ElementSessionRead);

/** The sign-ins that a list asks for: those of one user, where one is named. */
export const ElementSessionQuery = z.object({
	user: Reference.optional().describe('Only sessions of this user: its id or key.'),
	...pageShape,
});
export type ElementSessionQuery = z.output<typeof ElementSessionQuery>;

/** The user whose sign-ins are to end. */
export const ElementSessionsOfUser = z.object({
	user: Reference.describe('The user whose sessions end: its id or key.'),
});
