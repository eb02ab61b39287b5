import { z } from 'zod';
import { AlwaysNull, Name, optional, Reference, Timestamp, Uuid } from './common.js';
import { paginated } from './list.js';
import { pageShape } from './query.js';

/** The most characters of a user's token. */
const maxTokenLength = 16_384;

/** A secret in a request. Problems with it do not show it. */
const Secret = z.string().superRefine((text, ctx) => {
	// The input of the problem stands in for the text, because messages show a text.
	if (text.length > maxTokenLength || text === '') ctx.addIssue({ code: 'custom', message: tokenMessage, input: {} });
});
const tokenMessage = `must have 1 to ${maxTokenLength} characters`;

/** Who is to be signed in where, each by id or key (spec: Authentication, 2 and 3). */
export const ElementLogin = z
	.object({ user_id: Reference, tenant_id: Reference })
	.meta({ id: 'UserLoginRequestInput' });
export type ElementLogin = z.output<typeof ElementLogin>;

/** Where a user with a token of the application signs in. The claim holds the key of the user. */
export const ElementFrontendLogin = z
	.object({
		tenant_id: Reference,
		user_jwt: Secret,
		user_key_claim: optional(Name.min(1)),
	})
	.meta({ id: 'UserFELoginRequestInput' });
export type ElementFrontendLogin = z.output<typeof ElementFrontendLogin>;

/** A sign-in. Failures are no answers of this kind, so `error` and `error_code` are null. */
export const ElementLoginRead = z
	.object({
		/** Where the browser goes to get its cookie. */
		redirect_url: z.url(),
		/** The ticket in that address; null where the cookie is set already. */
		token: z.string().nullable(),
		/** Stands for the user as `Authorization: Bearer`, where cookies of other sites are blocked. */
		element_bearer_token: z.string(),
		error: AlwaysNull,
		error_code: AlwaysNull,
		// No `content`: the SDKs add it themselves, and the one for Python fails where it is there already.
		extra: AlwaysNull,
	})
	.meta({ id: 'EmbeddedLoginRequestOutput' });
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
	.object({ logged_in: z.boolean(), expires_at: z.int(), active_org_id: Uuid.nullable() })
	.meta({ id: 'LoginResult' });
export type LoginResult = z.input<typeof LoginResult>;

/** Who is signed in. `expires_at` is in seconds since 1970. */
export const ElementActor = z
	.object({
		actor: z.object({
			org_id: Uuid,
			proj_id: Uuid,
			env_id: Uuid,
			tenant_id: Uuid,
			tenant_key: z.string(),
			user_id: Uuid,
			user_key: z.string(),
		}),
		expires_at: z.int(),
	})
	.meta({ id: 'ElementActor' });
export type ElementActor = z.input<typeof ElementActor>;

/** A sign-in as administrators see it. */
export const ElementSessionRead = z
	.object({
		id: Uuid,
		organization_id: Uuid,
		project_id: Uuid,
		environment_id: Uuid,
		user_id: Uuid,
		user: z.string(),
		tenant_id: Uuid,
		tenant: z.string(),
		created_at: Timestamp,
		expires_at: Timestamp,
		/** To the minute. */
		last_used_at: Timestamp.nullable(),
	})
	.meta({ id: 'ElementSessionRead' });
export type ElementSessionRead = z.input<typeof ElementSessionRead>;

/** One page of sign-ins. */
export const ElementSessionPage = paginated(ElementSessionRead);

/** The sign-ins that a list asks for: those of one user, where one is named. */
export const ElementSessionQuery = z.object({ user: Reference.optional(), ...pageShape });
export type ElementSessionQuery = z.output<typeof ElementSessionQuery>;

/** The user whose sign-ins are to end. */
export const ElementSessionsOfUser = z.object({ user: Reference });
