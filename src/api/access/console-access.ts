import { Failure } from '../../failure.js';
import { refuseNoAccess } from '../../store/account/authenticate.js';
import { ConsoleEntrance } from '../../store/session/console-entrance.js';
import { signedOut } from '../../store/session/console-sessions.js';
import type { Contexts } from '../access.js';
import { readCredentials } from '../console/credentials.js';
import { type Admit, defineAccess } from './access-rule.js';
import { findEnvironment } from './authenticate-caller.js';

/** Maximum size of a console sign-in body, in bytes. */
const maxSignInBody = 32 * 1024;

/** `console.enter`: open to everyone, for sign-in and sign-out. */
export const consoleEnterAccess: Admit<Contexts['console.enter']> = defineAccess({
	// The body identifies the caller, so it is read before authentication. Keep it short.
	authenticate: (_, run) => run.readBody(maxSignInBody),
	open: (_, run, { store, decisionPoints }) => {
		const account = (organizationId: string) => store.account(organizationId);
		return run({ entrance: new ConsoleEntrance(store), account, relayTarget: decisionPoints.target });
	},
});

/** `console.ask`: a console session for the environment in the path, to query its decision point. A key is rejected. */
export const consoleAskAccess = relayAccess(false);

/** `console.watch`: like `console.ask`, but does not extend the session. */
export const consoleWatchAccess = relayAccess(true);

function relayAccess(watching: boolean): Admit<Contexts['console.ask']> {
	return defineAccess({
		authenticate: async (visit) => {
			const { store, request, decisionPoints } = visit;
			const { session } = readCredentials(request);
			if (session === undefined) throw signedOut('SIGNED_OUT');
			const caller = await store.consoleSessions.identify(session, { watching });
			refuseNoAccess(caller);
			const account = store.account(caller.organization_id);
			const environment = await findEnvironment(visit, caller, account);
			const { key: project_key } = await account.project(caller, environment.project_id);
			const place = { environment_id: environment.id, environment_key: environment.key, project_key };
			const target = decisionPoints.target(place);
			if (target === null) {
				throw new Failure('unavailable', 'the console has no decision point for this environment: set CONSOLE_PDP_URL');
			}
			const secret = async () => target.secret ?? (await account.keys.environmentKey(environment.id)).secret;
			return { target, secret, relay: decisionPoints.relay };
		},
		open: (relayed, run) => run(relayed),
	});
}
