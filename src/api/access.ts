import { z } from 'zod';
import type { Clock } from '../clock.js';
import { requireStanding } from '../domain/element/session.js';
import { Failure, forbidden } from '../failure.js';
import { declaring, type Endpoint, Raw } from '../http/endpoint.js';
import { type Answer, parsePart, type Run, type Surround } from '../http/mount.js';
import type { AnyRequest } from '../http/received-request.js';
import { Turns } from '../limit/turns.js';
import { type AccountUnit, environmentScope } from '../store/account/account.js';
import {
	authenticate,
	authenticateInEnvironment,
	identify,
	refuseNoAccess,
	unlessDeleted,
} from '../store/account/authenticate.js';
import type { Caller } from '../store/account/caller.js';
import type { WritingAccountUnit } from '../store/account/writing-account.js';
import type { AuditLogIntake } from '../store/audit-log/audit-log-intake.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import { ConsoleEntrance } from '../store/session/console-entrance.js';
import { signedOut as signedOutOfConsole } from '../store/session/console-sessions.js';
import type { ElementEntrance, ElementSession } from '../store/session/element-entrance.js';
import type { ElementSessions } from '../store/session/element-sessions.js';
import type { SessionSource, Store } from '../store/store.js';
import type { Environment, Project } from '../store/table/account.js';
import type { PdpInstances } from '../store/table/pdp-state.js';
import type { Committed } from '../store/unit/queued-write.js';
import type { ReadingUnit, Scope } from '../store/unit/reading-unit.js';
import { LostStanding } from '../store/unit/standing.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { UserTokens } from '../token/user-token.js';
import type { EnvironmentCopier } from '../transfer/environment-copy.js';
import { type TriedDraft, tryDraft } from '../transfer/try-draft.js';
import { Reference } from '../wire/common.js';
import type { Draft } from '../wire/general/draft.js';
import { revisionHeaders } from '../wire/revision-token.js';
import { readCredentials } from './console/credentials.js';
import { requireOwnOrigin } from './console/own-origin.js';
import type { FindRelayTarget, Relay, RelayTarget } from './console/relay-target.js';
import { sessionCookieHeader } from './console/session-cookie.js';
import { refuseForgedWrite, requireElementSession, requireOwnPath } from './elements/element-session.js';
import type { ImpactSource } from './impact-source.js';
import type { Monitoring } from './monitoring.js';
import type { PolicyTests } from './policy-tests.js';

interface ByKey {
	readonly caller: Caller;
}

interface InEnvironment extends ByKey {
	readonly environment: Environment;
}

interface InSession {
	/** The signed-in user, with environment and tenant. */
	readonly session: ElementSession;
}

/**
 * Access rules for endpoints, with the handler context for each rule.
 *
 * - `public` and `probe` are open to everyone; `probe` serves process state and version.
 * - `key` accepts any known API key, even without access, to show data about the key itself.
 * - `organization.*`, `project.*` and `environment.*` need a key with access to the object in the path. `.write` also
 *   needs a key that may write and, above the environment, a key at that level or higher.
 * - `.snapshot` and `.export` read everything at a single instant. `.apply` is `.write` in an exclusive transaction,
 *   which the handler opens. `.try` and `.impact` run changes, roll them back, and accept read-only keys.
 * - `keys.*` needs a key with the access level `admin`; `ApiKeys` limits the keys it reaches.
 * - `environment.manage` accepts keys at any level that may write; handlers that return secrets call `requireAdmin`.
 * - `environment.own` takes the environment from the key, because the path has none. `environment.report` is the same
 *   for keys that may write or belong to a decision point, `environment.sign_in` for keys that may write.
 * - `environment.sessions` needs a key with the access level `admin`.
 * - `metrics` needs an organization key, because metrics cover all environments, unless the settings open them.
 *
 * Users of elements have no key. `element.enter` is open, for sign-in, sign-out and invite approval. `element.session`
 * needs a signed-in user. `element.read` and `element.write` need a user who is signed in to the environment in the
 * path. A write by cookie must come from an origin that the environment allows, and its unit of work checks session and
 * user again.
 *
 * A console session can replace a key. It has its key's rights in a single environment, can read above it, and reaches
 * other environments only as copy targets. It writes only for pages from the server's own origin. `console.enter` is
 * open, for sign-in and sign-out. `console.ask` needs a session (a key is refused) for the environment in the path, to
 * query its decision point. `console.watch` is the same but does not extend the session.
 */
export interface Contexts {
	public: null;
	probe: Pick<Monitoring, 'probe' | 'version'>;
	metrics: Pick<Monitoring, 'render' | 'type'>;
	key: ByKey;
	'organization.read': ByKey & { readonly account: AccountUnit };
	'organization.write': ByKey & { readonly account: WritingAccountUnit };
	'keys.manage': ByKey & { readonly account: WritingAccountUnit };
	'keys.read': ByKey & { readonly account: AccountUnit };
	'project.read': ByKey & { readonly account: AccountUnit; readonly project: Project };
	'project.write': ByKey & { readonly account: WritingAccountUnit; readonly project: Project };
	'environment.read': InEnvironment & {
		readonly unit: ReadingUnit;
		readonly account: AccountUnit;
		readonly policies: PolicyStore;
		readonly policyTests: PolicyTests;
		readonly instances: PdpInstances;
		readonly copies: EnvironmentCopier;
	};
	'environment.own': InEnvironment & { readonly account: AccountUnit; readonly instances: PdpInstances };
	'environment.report': Contexts['environment.own'] & {
		readonly intake: AuditLogIntake;
		/** Runs `work` after earlier deliveries. Rejects like `Turns.wait`, and settles like `work`. */
		readonly delivering: <T>(closed: AbortSignal, work: () => Promise<T>) => Promise<T>;
	};
	'environment.copy': InEnvironment & { readonly copies: EnvironmentCopier };
	'environment.snapshot': InEnvironment & { readonly unit: ReadingUnit };
	'environment.export': InEnvironment & { readonly unit: ReadingUnit };
	'environment.write': InEnvironment & { readonly unit: WritingUnit };
	'environment.apply': InEnvironment & {
		readonly writing: <T>(work: (unit: WritingUnit) => Promise<T>) => Promise<Committed<T>>;
		/** Like `writing`, but rolls the work back: see `Store.tryOut`. */
		readonly trying: <T>(work: (unit: WritingUnit) => Promise<T>) => Promise<Committed<T>>;
	};
	'environment.try': InEnvironment & {
		/** See `tryDraft`. */
		readonly trying: <T>(draft: Draft, inUnit: (unit: WritingUnit) => Promise<T>) => Promise<TriedDraft<T>>;
	};
	'environment.impact': InEnvironment & { readonly scope: Scope; readonly source: ImpactSource; readonly clock: Clock };
	'environment.manage': InEnvironment & { readonly account: WritingAccountUnit };
	'environment.sign_in': InEnvironment & { readonly unit: ReadingUnit; readonly entrance: ElementEntrance };
	'environment.sessions': InEnvironment & { readonly unit: ReadingUnit; readonly sessions: ElementSessions };
	'element.enter': {
		readonly entrance: ElementEntrance;
		readonly tokens: UserTokens;
		readonly reading: (scope: Scope) => ReadingUnit;
		/** Runs a unit of work on behalf of a user id, or `null` for a new user. */
		readonly writing: <T>(
			scope: Scope,
			userId: string | null,
			work: (unit: WritingUnit) => Promise<T>,
		) => Promise<Committed<T>>;
	};
	'element.session': InSession;
	'element.read': InSession & { readonly unit: ReadingUnit };
	'element.write': InSession & { readonly unit: WritingUnit };
	'console.enter': {
		readonly entrance: ConsoleEntrance;
		readonly account: (organizationId: string) => AccountUnit;
		readonly relayTarget: FindRelayTarget;
	};
	'console.ask': Relayed;
	'console.watch': Relayed;
}

/** Access to an environment's decision point. */
interface Relayed {
	readonly target: RelayTarget;
	/** API key for the decision point. */
	readonly secret: () => Promise<string>;
	readonly relay: Relay;
}

export type Access = keyof Contexts;

/** Body size in bytes above which a write counts as a bulk write. */
const heavyBytes = 32 * 1024;

/** Maximum number of waiting draft previews per environment. A preview may delay writers. */
const maxWaitingPreviews = 4;

/** Limits for decision log deliveries, so requests wait for at most two delivery statements. */
const deliveryTurns = { running: 2, waiting: 32 };

/** Maximum size of a console sign-in body, in bytes. */
const maxSignInBody = 32 * 1024;

/** Declares a management API endpoint. */
export const endpoint = declaring<Contexts>();

/** Path parameters for endpoints inside an environment. */
export const EnvironmentPath = z.object({
	proj_id: Reference.describe('The project: its id or key.'),
	env_id: Reference.describe('The environment: its id or key.'),
});

/** Path parameter for endpoints inside a project. */
export const ProjectPath = z.object({ proj_id: Reference.describe('The project: its id or key.') });

/** Dependencies for opening handler contexts. */
export interface Guarded {
	readonly store: Store;
	readonly policies: PolicyStore;
	readonly copies: EnvironmentCopier;
	readonly tokens: UserTokens;
	readonly monitoring: Monitoring;
	/** Finds and calls decision points. */
	readonly decisionPoints: { readonly target: FindRelayTarget; readonly relay: Relay };
	readonly impact: ImpactSource;
	readonly policyTests: PolicyTests;
	/** Called during a request after it writes a new environment revision. */
	readonly wrote?: ((environment: string, revision: number) => void) | undefined;
}

/** Wraps each management API handler with authentication, scope, unit of work and `X-Revision`. */
export function guard(guarded: Guarded): Surround {
	const { store, policies, copies, tokens, monitoring, decisionPoints, impact, policyTests, wrote } = guarded;
	const previews = new Turns({ running: Number.POSITIVE_INFINITY, waiting: maxWaitingPreviews });
	const deliveries = new Turns(deliveryTurns);
	const openers: { readonly [A in Access]: Opener<Contexts[A]> } = {
		public: (_, run) => run(null),
		probe: (_, run) => run(monitoring),
		metrics: async (request, run) => {
			if (!monitoring.open) await authenticateAt(store, request, ['org']);
			return run(monitoring);
		},
		key: async (request, run) => {
			const credentials = readCredentials(request);
			const caller = await unlessDeleted(store, credentials.authorization, () => identify(store, credentials));
			return run({ caller });
		},
		'organization.read': (request, run) =>
			letIn(
				run,
				() => authenticate(store, readCredentials(request)),
				(caller) => run({ caller, account: store.account(caller.organization_id) }),
			),
		'organization.write': (request, run) =>
			letIn(
				run,
				async () => outsideOfSessions(await authenticateWriter(store, request, ['org'])),
				(caller) => store.writeAccount(caller.organization_id, caller, (account) => run({ caller, account })),
			),
		'keys.manage': (request, run) =>
			letIn(
				run,
				() => authenticateAdmin(store, request),
				(caller) => store.writeAccount(caller.organization_id, caller, (account) => run({ caller, account })),
			),
		'keys.read': (request, run) =>
			letIn(
				run,
				() => authenticateAdmin(store, request),
				(caller) => run({ caller, account: store.account(caller.organization_id) }),
			),
		'project.read': (request, run) =>
			letIn(
				run,
				async () => {
					const caller = await authenticate(store, readCredentials(request));
					const account = store.account(caller.organization_id);
					const { proj_id } = await parsePart(ProjectPath, 'path', request.params);
					return { caller, account, project: await account.project(caller, proj_id) };
				},
				run,
			),
		'project.write': (request, run) =>
			letIn(
				run,
				async () => {
					const caller = outsideOfSessions(await authenticateWriter(store, request, ['org', 'project']));
					return { caller, ...(await parsePart(ProjectPath, 'path', request.params)) };
				},
				({ caller, proj_id }) =>
					store.writeAccount(caller.organization_id, caller, async (account) =>
						run({ caller, account, project: await account.project(caller, proj_id) }),
					),
			),
		'environment.read': (request, run) =>
			letIn(
				run,
				() => authenticateForEnvironment(store, request, () => {}),
				({ caller, environment }) => {
					const account = store.account(caller.organization_id);
					const scope = environmentScope(environment);
					const unit = store.reading(scope);
					const instances = store.pdpInstances(scope);
					return run({ caller, environment, account, policies, policyTests, copies, unit, instances });
				},
			),
		'environment.own': (request, run) =>
			letIn(
				run,
				() => authenticate(store, readCredentials(request)),
				async (caller) => run(await openOwn(store, caller)),
			),
		'environment.report': (request, run) =>
			letIn(
				run,
				async () => {
					const caller = await authenticate(store, readCredentials(request));
					if (!(await mayReport(store.account(caller.organization_id), caller))) {
						throw forbidden('this API key may read, but neither write nor report as a decision point (`pdp_config`)');
					}
					return caller;
				},
				async (caller) => {
					const own = await openOwn(store, caller);
					const { id } = own.environment;
					const delivering = <T>(closed: AbortSignal, work: () => Promise<T>) => inTurn(deliveries, id, closed, work);
					return run({ ...own, intake: store.auditLogIntake({ environment_id: id }), delivering });
				},
			),
		'environment.sign_in': (request, run) =>
			letIn(
				run,
				async () => {
					const caller = await authenticate(store, readCredentials(request));
					refuseReader(caller);
					return caller;
				},
				async (caller) => {
					const environment = await ownEnvironment(store.account(caller.organization_id), caller);
					return store.whileStanding(caller, ({ reading, entrance }) =>
						run({ caller, environment, unit: reading(environmentScope(environment)), entrance }),
					);
				},
			),
		'environment.sessions': (request, run, { method }) =>
			letIn(
				run,
				() => authenticateForEnvironment(store, request, requireAdmin),
				({ caller, environment }) => {
					const open = (source: SessionSource) => {
						const unit = source.reading(environmentScope(environment));
						return run({ caller, environment, unit, sessions: source.entrance.sessionsOf(environment) });
					};
					return method === 'get' ? open(store) : store.whileStanding(caller, open);
				},
			),
		'element.enter': (_, run) =>
			run({
				entrance: store.entrance,
				tokens,
				reading: (scope) => store.reading(scope),
				writing: (scope, userId, work) => store.write(scope, userId, work),
			}),
		'element.session': async (request, run) => run({ session: await requireElementSession(store, request) }),
		'element.read': async (request, run) => {
			const session = await enterElements(store, request);
			const unit = store.reading(environmentScope(session.environment));
			const waited = run.waits();
			await run.validate();
			if (waited) await requireStanding(unit, session);
			return run({ session, unit });
		},
		'element.write': async (request, run) => {
			const session = await enterElements(store, request);
			refuseForgedWrite(request, session.environment);
			await run.validate();
			const work = async (unit: WritingUnit) => {
				// Check inside the unit: a sign-out or a removal from the tenant may have been committed first.
				await requireStanding(unit, session);
				return run({ session, unit });
			};
			const scope = environmentScope(session.environment);
			const committed = await store.write(scope, session.user.id, work, { heavy: isHeavy(request) });
			wrote?.(session.environment.id, committed.revision);
			return withRevision(committed);
		},
		'console.enter': async (_, run) => {
			// The body identifies the caller, so it is read before authentication. Keep it short.
			await run.readBody(maxSignInBody);
			const account = (organizationId: string) => store.account(organizationId);
			return run({ entrance: new ConsoleEntrance(store), account, relayTarget: decisionPoints.target });
		},
		'console.ask': (request, run) => openRelay(request, run, false),
		'console.watch': (request, run) => openRelay(request, run, true),
		'environment.copy': (request, run) =>
			letIn(
				run,
				async () => {
					const caller = await authenticateWriter(store, request, ['org', 'project']);
					return { caller, environment: await findEnvironment(store.account(caller.organization_id), caller, request) };
				},
				({ caller: { session_environment_id: _, ...caller }, environment }) =>
					// A copy writes to the environment in the body, where the key's rights apply.
					run({ caller, copies, environment }),
			),
		'environment.snapshot': (request, run) => openSnapshot(request, run, (id, work) => store.snapshot(id, work)),
		'environment.export': (request, run) => openSnapshot(request, run, (id, work) => store.readAtRevision(id, work)),
		'environment.write': (request, run) =>
			letIn(
				run,
				() => authenticateForEnvironment(store, request, refuseReader),
				async ({ caller, environment }) => {
					const work = (unit: WritingUnit) => run({ caller, environment, unit });
					return withRevision(await writing(caller, environment, work, isHeavy(request)));
				},
			),
		'environment.apply': (request, run) =>
			letIn(
				run,
				() => authenticateForEnvironment(store, request, refuseReader),
				({ caller, environment }) =>
					run({
						caller,
						environment,
						writing: (work) => writing(caller, environment, work, true),
						trying: (work) => store.tryOut(environmentScope(environment), caller, work),
					}),
			),
		'environment.try': (request, run) =>
			letIn(
				run,
				() => authenticateForEnvironment(store, request, () => {}),
				({ caller, environment }) => {
					const trying = <T>(draft: Draft, inUnit: (unit: WritingUnit) => Promise<T>) =>
						inTurn(previews, environment.id, request.closed, () =>
							tryDraft(store, environmentScope(environment), { caller, closed: request.closed }, draft, inUnit),
						);
					return run({ caller, environment, trying });
				},
			),
		'environment.impact': (request, run) =>
			letIn(
				run,
				() => authenticateForEnvironment(store, request, () => {}),
				({ caller, environment }) =>
					run({ caller, environment, scope: environmentScope(environment), source: impact, clock: store.clock }),
			),
		'environment.manage': (request, run, { method }) =>
			letIn(
				run,
				async () => {
					const caller = await authenticateWriter(store, request, ['org', 'project', 'env']);
					return { caller, ...(await findEnvironment(store.account(caller.organization_id), caller, request)) };
				},
				({ caller, id: environmentId }) =>
					store.writeAccount(
						caller.organization_id,
						method === 'get' ? null : caller,
						async (account) => run({ caller, account, environment: await findEnvironment(account, caller, request) }),
						{ environmentId },
					),
			),
	};
	const writing = async <T>(
		caller: Caller,
		environment: Environment,
		work: (unit: WritingUnit) => Promise<T>,
		heavy: boolean,
	): Promise<Committed<T>> => {
		const committed = await store.write(environmentScope(environment), caller, work, { heavy });
		wrote?.(environment.id, committed.revision);
		return committed;
	};
	const openSnapshot = (request: AnyRequest, run: Opened<Contexts['environment.snapshot']>, read: Store['snapshot']) =>
		letIn(
			run,
			async () => {
				const caller = await authenticate(store, readCredentials(request));
				return { caller, ...(await findEnvironment(store.account(caller.organization_id), caller, request)) };
			},
			({ caller, id }) => read(id, (unit, environment) => run({ caller, environment, unit })),
		);
	const openRelay = async (request: AnyRequest, run: Opened<Relayed>, watching: boolean) => {
		const { session } = readCredentials(request);
		if (session === undefined) throw signedOutOfConsole('SIGNED_OUT');
		const caller = await store.consoleSessions.identify(session, { watching });
		refuseNoAccess(caller);
		const account = store.account(caller.organization_id);
		const environment = await findEnvironment(account, caller, request);
		const { key: project_key } = await account.project(caller, environment.project_id);
		const place = { environment_id: environment.id, environment_key: environment.key, project_key };
		const target = decisionPoints.target(place);
		if (target === null) {
			throw new Failure(
				'unavailable',
				'the console knows no decision point of this environment: set CONSOLE_PDP_URL to where one is',
			);
		}
		const secret = async () => target.secret ?? (await account.keys.environmentKey(environment.id)).secret;
		return run({ target, secret, relay: decisionPoints.relay });
	};
	return async (declared, request, run) => {
		const access = declaredAccess(declared);
		// Each opener passes the context for its own access name, and `declaring` ties each handler to its name.
		const opener = openers[access];
		const session = takesSession(access) ? readCredentials(request).session : undefined;
		if (session === undefined) return opener(request, run, declared);
		if (declared.method !== 'get') requireOwnOrigin(request.headers);
		const answer = await opener(request, run, declared);
		if (access === 'console.watch') return answer;
		const secret = await store.consoleSessions.rotate(session);
		if (secret === null) return answer;
		const cookie = sessionCookieHeader(request.headers, { ...session, secret });
		return withHeaders(answer, { 'set-cookie': cookie, 'cache-control': 'no-store' });
	};
}

/**
 * Finds caller and target, reads and validates the request, then runs the work. Refuses strangers before their body is
 * read. If the body took time to arrive, `find` runs again. Writes check the caller once more in their transaction; if
 * the caller lost access, `find` runs again to produce the error.
 */
async function letIn<Found>(
	run: Pick<Run, 'validate' | 'waits'>,
	find: () => Promise<Found>,
	work: (found: Found) => Promise<Answer>,
): Promise<Answer> {
	const first = await find();
	const waited = run.waits();
	// Validate first: the work may take a lock, and an invalid request must not delay other requests.
	await run.validate();
	const found = waited ? await find() : first;
	try {
		return await work(found);
	} catch (error) {
		if (!(error instanceof LostStanding)) throw error;
		await find();
		throw forbidden('the access level of this API key changed during the request: send it again');
	}
}

/** Runs work after its turn comes. Rejects like `Turns.wait`, and settles like the work. */
async function inTurn<T>(turns: Turns, name: string, closed: AbortSignal, work: () => Promise<T>): Promise<T> {
	await turns.wait(name, closed);
	try {
		return await work();
	} finally {
		turns.end(name);
	}
}

/** True if an endpoint accepts a console session. */
function takesSession(access: Access): boolean {
	return access !== 'public' && access !== 'probe' && access !== 'console.enter' && !access.startsWith('element.');
}

/**
 * Returns the session for the environment in the path. Throws `signed_out`, or `not_found` for a different environment.
 */
async function enterElements(store: Store, request: AnyRequest): Promise<ElementSession> {
	const session = await requireElementSession(store, request);
	await requireOwnPath(store, session, await parsePart(EnvironmentPath, 'path', request.params));
	return session;
}

async function openOwn(store: Store, caller: Caller): Promise<Contexts['environment.own']> {
	const account = store.account(caller.organization_id);
	const environment = await ownEnvironment(account, caller);
	return { caller, environment, account, instances: store.pdpInstances(environmentScope(environment)) };
}

/** True for keys that may write and for PDP configs. Anyone with read access could forge reports by other keys. */
export async function mayReport(
	account: AccountUnit,
	{ access_level, environment_id, key_id }: Caller,
): Promise<boolean> {
	if (access_level !== 'read') return true;
	return environment_id !== null && (await account.keys.findPdpConfig(environment_id, key_id)) !== undefined;
}

/** Returns the environment of the caller's key. Throws `forbidden` for keys at a different level. */
async function ownEnvironment(account: AccountUnit, caller: Caller): Promise<Environment> {
	if (caller.environment_id === null) throw forbidden('this needs an API key of an environment');
	return account.environmentById(caller, caller.environment_id);
}

/** True if the body is large or has no declared length. */
function isHeavy({ headers }: AnyRequest): boolean {
	return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > heavyBytes;
}

type Opener<Context> = (
	request: AnyRequest,
	run: Opened<Context>,
	declared: Pick<Endpoint, 'method'>,
) => Promise<Answer>;

type Opened<Context> = ((context: Context) => Promise<Answer>) & Pick<Run, 'validate' | 'waits' | 'readBody'>;

function declaredAccess(declared: Endpoint<string, never>): Access {
	// Only `endpoint` above declares endpoints of this API, and it accepts only these access names.
	return declared.access as Access;
}

async function authenticateWriter(
	store: Store,
	request: AnyRequest,
	levels: readonly Caller['object_type'][],
): Promise<Caller> {
	const caller = await authenticate(store, readCredentials(request));
	refuseReader(caller);
	refuseOtherLevels(caller, levels);
	return caller;
}

/** Authenticates a caller and checks the key level. */
async function authenticateAt(
	store: Store,
	request: AnyRequest,
	levels: readonly Caller['object_type'][],
): Promise<Caller> {
	const caller = await authenticate(store, readCredentials(request));
	refuseOtherLevels(caller, levels);
	return caller;
}

function refuseOtherLevels({ object_type }: Caller, levels: readonly Caller['object_type'][]): void {
	if (levels.includes(object_type)) return;
	throw forbidden(`this needs an API key of the level ${levels.join(' or ')}`);
}

/** True if a caller may write. Some addresses may hold secrets, so only these callers see them. */
export function mayWrite({ access_level }: Caller): boolean {
	return access_level !== 'read';
}

/** Throws `forbidden` for read-only callers. */
export function refuseReader(caller: Caller): void {
	if (!mayWrite(caller)) throw forbidden('this API key may read but not write');
}

/** Returns the caller. Throws `forbidden` for a console session, which changes nothing outside its environment. */
function outsideOfSessions(caller: Caller): Caller {
	if (caller.session_environment_id === undefined) return caller;
	throw forbidden('a session of the console changes nothing outside of its environment: send an API key');
}

/** Finds the caller and the environment in the path. Needs a single statement unless it refuses the request. */
async function authenticateForEnvironment(
	store: Store,
	request: AnyRequest,
	refuse: (caller: Caller) => void,
): Promise<InEnvironment> {
	const credentials = readCredentials(request);
	const place = EnvironmentPath.safeParse(request.params);
	if (place.success) {
		const named = { project: place.data.proj_id, environment: place.data.env_id };
		const entered = await authenticateInEnvironment(store, credentials, named, refuse);
		if (entered !== null) return entered;
	}
	const caller = await authenticate(store, credentials);
	refuse(caller);
	return { caller, environment: await findEnvironment(store.account(caller.organization_id), caller, request) };
}

/** True for full access. Secrets are for these callers only, because a secret could widen a lower access level. */
export function isAdmin({ access_level }: Caller): boolean {
	return access_level === 'admin';
}

/** Throws `forbidden` for access levels below `admin`. */
export function requireAdmin(caller: Caller): void {
	if (!isAdmin(caller)) throw forbidden('this needs an API key with the access level admin');
}

async function authenticateAdmin(store: Store, request: AnyRequest): Promise<Caller> {
	const caller = await authenticate(store, readCredentials(request));
	requireAdmin(caller);
	return caller;
}

async function findEnvironment(account: AccountUnit, caller: Caller, request: AnyRequest): Promise<Environment> {
	const { proj_id, env_id } = await parsePart(EnvironmentPath, 'path', request.params);
	return account.environment(caller, proj_id, env_id);
}

/** Returns the revision header and, after a write, the lineage header. Empty for writes outside environments. */
export function revisionHeader(revision: number | null, lineage?: string): Readonly<Record<string, string>> {
	return revision === null ? {} : revisionHeaders(revision, lineage);
}

/** Adds the revision after a write to the answer. */
function withRevision({ value, revision, lineage }: Committed<Answer>): Answer {
	return withHeaders(value, revisionHeader(revision, lineage));
}

function withHeaders(answer: Answer, more: Readonly<Record<string, string>>): Answer {
	const headers = { ...answer.headers, ...more };
	return answer instanceof Raw ? new Raw(answer.status, headers, answer.bytes) : { ...answer, headers };
}
