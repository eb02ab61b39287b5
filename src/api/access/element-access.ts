import { requireSignedIn } from '../../domain/element/session.js';
import { parsePart } from '../../http/mount.js';
import { environmentScope } from '../../store/account/account.js';
import type { ElementSession } from '../../store/session/element-entrance.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { type Contexts, EnvironmentPath } from '../access.js';
import { refuseForgedWrite, requireElementSession, requireOwnPath } from '../elements/element-session.js';
import { type Admit, defineAccess, type Visit } from './access-rule.js';
import { addRevision, isHeavy, writeEnvironment } from './write-environment.js';

/** `element.enter`: open to everyone, for sign-in, sign-out and invite approval. */
export const elementEnterAccess: Admit<Contexts['element.enter']> = defineAccess({
	authenticate: async () => null,
	open: (_, run, { store, tokens }) =>
		run({
			entrance: store.entrance,
			tokens,
			reading: (scope) => store.reading(scope),
			writing: (scope, userId, work) => store.write(scope, userId, work),
		}),
});

/** `element.session`: a signed-in user. */
export const elementSessionAccess: Admit<Contexts['element.session']> = defineAccess({
	authenticate: ({ store, request }) => requireElementSession(store, request),
	open: (session, run) => run({ session }),
});

/** `element.read`: a user who is signed in to the environment in the path. */
export const elementReadAccess: Admit<Contexts['element.read']> = defineAccess({
	authenticate: enterElements,
	open: (session, run, { store }) => run({ session, unit: store.reading(environmentScope(session.environment)) }),
});

/** `element.write`: like `element.read`. A write by cookie must come from an origin that the environment allows. */
export const elementWriteAccess: Admit<Contexts['element.write']> = defineAccess({
	authenticate: async (visit) => {
		const session = await enterElements(visit);
		refuseForgedWrite(visit.request, session.environment);
		return session;
	},
	open: async (session, run, visit) => {
		const work = async (unit: WritingUnit) => {
			// Check the session inside the unit: a sign-out or a removal from the tenant may have been committed since
			// the first check.
			await requireSignedIn(unit, session);
			return run({ session, unit });
		};
		const { environment, user } = session;
		return addRevision(await writeEnvironment(visit, environment, user.id, work, isHeavy(visit.request)));
	},
});

/**
 * Returns the session for the environment in the path. Throws `signed_out`, or `not_found` for a different environment.
 */
async function enterElements({ store, request }: Visit): Promise<ElementSession> {
	const session = await requireElementSession(store, request);
	await requireOwnPath(store, session, await parsePart(EnvironmentPath, 'path', request.params));
	return session;
}
