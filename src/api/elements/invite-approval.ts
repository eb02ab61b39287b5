import { z } from 'zod';
import { approveOwnInvite } from '../../domain/element/invite.js';
import { readElementUsers } from '../../domain/element/user.js';
import { reply } from '../../http/endpoint.js';
import { environmentScope } from '../../store/account/account.js';
import { bearerSecret } from '../../store/account/authenticate.js';
import { signedOut } from '../../store/session/element-entrance.js';
import { userWithKey } from '../../store/table/user.js';
import { Reference } from '../../wire/common.js';
import { OwnInviteApprove } from '../../wire/element/user-invite.js';
import { UserRead } from '../../wire/facts/user.js';
import { Jwks } from '../../wire/general/environment.js';
import { RevisionAnswer } from '../../wire/headers.js';
import { endpoint, revisionHeader } from '../access.js';
import { refuseForeignPage } from './element-session.js';
import { presentToken } from './present-token.js';
import { signInHeaders } from './sign-in-page.js';

const InvitePath = z.object({
	env_id: Reference.describe('Environment id.'),
	code: Reference.describe('Invite id.'),
});

/** Maximum token length in characters. */
const maxTokenLength = 16_384;

/** Invites that users approve themselves. */
export const inviteApproval = [
	endpoint({
		name: 'approveOwnInvite',
		summary: 'Approve an invite with an application token',
		description:
			"`Authorization: Bearer` carries the invited user's token (JWT), verified as in `elements_fe_login_as`. Its " +
			'user key or e-mail address must match the invite, and `email` must be the invited address. A missing user is ' +
			'created. The user gets the role in the invite.',
		tag: 'User management',
		method: 'post',
		path: '/v2/auth/:env_id/user_invites/:code/approve',
		access: 'element.enter',
		params: InvitePath,
		body: OwnInviteApprove,
		example: { email: 'ines@example.com', attributes: { language: 'pt' } },
		returns: { 200: UserRead },
		answerHeaders: RevisionAnswer,
		failures: {
			400: "The invite has already been approved or is for a different address, or the environment's keys are unusable",
			401: 'The token is not valid for this environment',
			403:
				'The token belongs to a different user, the body sets an attribute reserved for the application, or the ' +
				'origin is not listed',
			404: 'No such environment or invite',
		},
		handle: async (request, { entrance, tokens, reading, writing }) => {
			const { params, body, headers } = request;
			const environment = await entrance.environment(params.env_id);
			refuseForeignPage(request, environment);
			const token = bearerSecret(headers['authorization']) ?? '';
			if (token === '' || token.length > maxTokenLength) throw signedOut();
			const presented = presentToken(environment, token, body.user_key_claim);
			const person = await tokens.subject(Jwks.safeParse(environment.jwks).data ?? null, presented);
			if (person === null) throw signedOut();
			const scope = environmentScope(environment);
			const known = await userWithKey(reading(scope), person.key);
			const { value, revision, lineage } = await writing(scope, known?.id ?? null, async (unit) => {
				const { user, ...place } = await approveOwnInvite(unit, params.code, person, body);
				return readElementUsers(unit, place, [user]);
			});
			const [read] = value;
			if (read === undefined) throw new Error('an approved user is missing');
			return reply(200, read, { ...signInHeaders, ...revisionHeader(revision, lineage) });
		},
	}),
];
