import { forbidden } from '../../failure.js';
import type { Turns } from '../../limit/turns.js';
import { environmentScope } from '../../store/account/account.js';
import type { Caller } from '../../store/account/caller.js';
import type { SessionSource } from '../../store/store.js';
import type { Environment } from '../../store/table/account.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { tryDraft } from '../../transfer/try-draft.js';
import { type Contexts, mayReport, refuseReader, requireAdmin } from '../access.js';
import { type Admit, defineAccess, type Visit } from './access-rule.js';
import { authenticateCaller, authenticateInPath, authenticateWriter, findEnvironment } from './authenticate-caller.js';
import { addRevision, isHeavy, writeEnvironment } from './write-environment.js';

/** `environment.read`: a key with access to the environment in the path. */
export const environmentReadAccess: Admit<Contexts['environment.read']> = defineAccess({
	authenticate: (visit) => authenticateInPath(visit),
	open: ({ caller, environment }, run, { store, policies, policyTests, copies }) => {
		const account = store.account(caller.organization_id);
		const scope = environmentScope(environment);
		const unit = store.reading(scope);
		const instances = store.pdpInstances(scope);
		return run({ caller, environment, account, policies, policyTests, copies, unit, instances, clock: store.clock });
	},
});

/** `environment.own`: an environment key. The path does not contain the environment. */
export const environmentOwnAccess: Admit<Contexts['environment.own']> = defineAccess({
	authenticate: authenticateCaller,
	open: async (caller, run, visit) => run(await openOwn(visit, caller)),
});

/** `environment.report`: like `environment.own`, for keys that may write and for decision point keys. */
export const environmentReportAccess: Admit<Contexts['environment.report']> = defineAccess({
	authenticate: async (visit) => {
		const caller = await authenticateCaller(visit);
		if (await mayReport(visit.store.account(caller.organization_id), caller)) return caller;
		throw forbidden('this API key has read-only access and does not belong to a decision point (`pdp_config`)');
	},
	open: async (caller, run, visit) => {
		const own = await openOwn(visit, caller);
		const { id } = own.environment;
		const delivering = <T>(closed: AbortSignal, work: () => Promise<T>) => inTurn(visit.deliveries, id, closed, work);
		return run({ ...own, intake: visit.store.auditLogIntake({ environment_id: id }), delivering });
	},
});

/** `environment.sign_in`: like `environment.own`, for keys that may write. */
export const environmentSignInAccess: Admit<Contexts['environment.sign_in']> = defineAccess({
	authenticate: async (visit) => {
		const caller = await authenticateCaller(visit);
		refuseReader(caller);
		return caller;
	},
	open: async (caller, run, visit) => {
		const environment = await ownEnvironment(visit, caller);
		return visit.store.withValidCaller(caller, ({ reading, entrance }) =>
			run({ caller, environment, unit: reading(environmentScope(environment)), entrance }),
		);
	},
});

/** `environment.sessions`: a key with the access level `admin`. */
export const environmentSessionsAccess: Admit<Contexts['environment.sessions']> = defineAccess({
	authenticate: (visit) => authenticateInPath(visit, requireAdmin),
	open: ({ caller, environment }, run, { store, method }) => {
		const open = (source: SessionSource) => {
			const unit = source.reading(environmentScope(environment));
			return run({ caller, environment, unit, sessions: source.entrance.sessionsOf(environment) });
		};
		return method === 'get' ? open(store) : store.withValidCaller(caller, open);
	},
});

/** `environment.copy`: an organization or project key that may write. */
export const environmentCopyAccess: Admit<Contexts['environment.copy']> = defineAccess({
	authenticate: async (visit) => {
		const caller = await authenticateWriter(visit, ['org', 'project']);
		return { caller, environment: await findEnvironment(visit, caller) };
	},
	open: ({ caller: { session_environment_id: _, ...caller }, environment }, run, { copies }) =>
		// A copy writes to the environment in the body, so the key must have write access to that environment.
		run({ caller, copies, environment }),
});

/**
 * `environment.snapshot`: a key with access to the environment in the path. The handler reads all data at the same
 * revision.
 */
export const environmentSnapshotAccess = snapshotAccess('snapshot');

/** `environment.export`: like `environment.snapshot`, without a transaction on the embedded store. */
export const environmentExportAccess = snapshotAccess('readAtRevision');

function snapshotAccess(read: 'snapshot' | 'readAtRevision'): Admit<Contexts['environment.snapshot']> {
	return defineAccess({
		authenticate: async (visit) => {
			const caller = await authenticateCaller(visit);
			return { caller, ...(await findEnvironment(visit, caller)) };
		},
		open: ({ caller, id }, run, { store }) =>
			store[read](id, (unit, environment) => run({ caller, environment, unit })),
	});
}

/** `environment.write`: a key that may write, in a unit of work. */
export const environmentWriteAccess: Admit<Contexts['environment.write']> = defineAccess({
	authenticate: (visit) => authenticateInPath(visit, refuseReader),
	open: async ({ caller, environment }, run, visit) => {
		const work = (unit: WritingUnit) => run({ caller, environment, unit });
		return addRevision(await writeEnvironment(visit, environment, caller, work, isHeavy(visit.request)));
	},
});

/** `environment.apply`: like `environment.write`, in an exclusive transaction that the handler opens. */
export const environmentApplyAccess: Admit<Contexts['environment.apply']> = defineAccess({
	authenticate: (visit) => authenticateInPath(visit, refuseReader),
	open: ({ caller, environment }, run, visit) =>
		run({
			caller,
			environment,
			writing: (work) => writeEnvironment(visit, environment, caller, work, true),
			trying: (work) => visit.store.tryOut(environmentScope(environment), caller, work),
		}),
});

/** `environment.try`: draft previews for any key with access. In each environment, one preview runs at a time. */
export const environmentTryAccess: Admit<Contexts['environment.try']> = defineAccess({
	authenticate: (visit) => authenticateInPath(visit),
	open: ({ caller, environment }, run, { store, request: { closed }, previews }) =>
		run({
			caller,
			environment,
			trying: (draft, inUnit) =>
				inTurn(previews, environment.id, closed, () =>
					tryDraft(store, environmentScope(environment), { caller, closed }, draft, inUnit),
				),
		}),
});

/** `environment.impact`: impact analysis for any key with access. */
export const environmentImpactAccess: Admit<Contexts['environment.impact']> = defineAccess({
	authenticate: (visit) => authenticateInPath(visit),
	open: ({ caller, environment }, run, { store, impact }) =>
		run({ caller, environment, scope: environmentScope(environment), source: impact, clock: store.clock }),
});

/** `environment.manage`: a key at any level that may write. Handlers that return secrets call `requireAdmin`. */
export const environmentManageAccess: Admit<Contexts['environment.manage']> = defineAccess({
	authenticate: async (visit) => {
		const caller = await authenticateWriter(visit, ['org', 'project', 'env']);
		return { caller, ...(await findEnvironment(visit, caller)) };
	},
	open: ({ caller, id: environmentId }, run, visit) =>
		visit.store.writeAccount(
			caller.organization_id,
			visit.method === 'get' ? null : caller,
			async (account) => run({ caller, account, environment: await findEnvironment(visit, caller, account) }),
			{ environmentId },
		),
});

async function openOwn(visit: Visit, caller: Caller): Promise<Contexts['environment.own']> {
	const environment = await ownEnvironment(visit, caller);
	const { store } = visit;
	const account = store.account(caller.organization_id);
	return { caller, environment, account, instances: store.pdpInstances(environmentScope(environment)) };
}

/** Returns the environment of the caller's key. Throws `forbidden` for project and organization keys. */
async function ownEnvironment({ store }: Visit, caller: Caller): Promise<Environment> {
	if (caller.environment_id === null) throw forbidden('this requires an environment key');
	return store.account(caller.organization_id).environmentById(caller, caller.environment_id);
}

/** Runs `work` when its turn comes. Rejects like `Turns.wait`; otherwise settles with the result of `work`. */
async function inTurn<T>(turns: Turns, name: string, closed: AbortSignal, work: () => Promise<T>): Promise<T> {
	await turns.wait(name, closed);
	try {
		return await work();
	} finally {
		turns.end(name);
	}
}
