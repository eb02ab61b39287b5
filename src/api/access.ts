import { z } from 'zod';
import type { Clock } from '../clock.js';
import { forbidden } from '../failure.js';
import { declaring } from '../http/endpoint.js';
import type { AccountUnit } from '../store/account/account.js';
import type { Caller } from '../store/account/caller.js';
import type { WritingAccountUnit } from '../store/account/writing-account.js';
import type { AuditLogIntake } from '../store/audit-log/audit-log-intake.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { ConsoleEntrance } from '../store/session/console-entrance.js';
import type { ElementEntrance, ElementSession } from '../store/session/element-entrance.js';
import type { ElementSessions } from '../store/session/element-sessions.js';
import type { Environment, Project } from '../store/table/account.js';
import type { PdpInstances } from '../store/table/pdp-state.js';
import type { Committed } from '../store/unit/queued-write.js';
import type { ReadingUnit, Scope } from '../store/unit/reading-unit.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import type { UserTokens } from '../token/user-token.js';
import type { EnvironmentCopier } from '../transfer/environment-copy.js';
import type { TriedDraft } from '../transfer/try-draft.js';
import { Reference } from '../wire/common.js';
import type { Draft } from '../wire/general/draft.js';
import { revisionHeaders } from '../wire/revision-token.js';
import type { FindRelayTarget, Relay, RelayTarget } from './console/relay-target.js';
import type { ImpactSource } from './impact-source.js';
import type { Monitoring } from './monitoring.js';
import type { PolicyTests } from './policy-tests.js';

interface ByKey {
	readonly caller: Caller;
}

/** Handler context inside an environment. */
export interface InEnvironment extends ByKey {
	readonly environment: Environment;
}

interface InSession {
	/** The signed-in user, with environment and tenant. */
	readonly session: ElementSession;
}

/**
 * Access rules for endpoints, with the handler context for each rule. The rules are in `access/`. `.write` requires a
 * key with write access; above the environment, the key must also be at that level or higher. Element users have no
 * key, and their rules begin with `element`.
 *
 * A console session can replace a key. It has its key's rights in a single environment and can read the levels above
 * it. It reaches other environments only as copy targets. With a confirmation, it can also delete projects, and read
 * and change the keys above its environment. Writes with a session must come from pages on the server's own origin.
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
	'project.delete': Contexts['project.write'];
	'environment.read': InEnvironment & {
		readonly unit: ReadingUnit;
		readonly account: AccountUnit;
		readonly policies: PolicyStore;
		readonly policyTests: PolicyTests;
		readonly instances: PdpInstances;
		readonly copies: EnvironmentCopier;
		readonly clock: Clock;
	};
	'environment.own': InEnvironment & { readonly account: AccountUnit; readonly instances: PdpInstances };
	'environment.report': Contexts['environment.own'] & {
		readonly intake: AuditLogIntake;
		/**
		 * Runs `work` after earlier deliveries. Rejects like `Turns.wait`; otherwise settles with the result of `work`.
		 */
		readonly delivering: <T>(closed: AbortSignal, work: () => Promise<T>) => Promise<T>;
	};
	'environment.copy': InEnvironment & { readonly copies: EnvironmentCopier };
	'environment.snapshot': InEnvironment & { readonly unit: ReadingUnit };
	'environment.export': InEnvironment & { readonly unit: ReadingUnit };
	'environment.write': InEnvironment & { readonly unit: WritingUnit };
	'environment.apply': InEnvironment & {
		readonly writing: <T>(work: (unit: WritingUnit) => Promise<T>) => Promise<Committed<T>>;
		/** Like `writing`, but rolls back the changes: see `Store.tryOut`. */
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
		/** Runs a unit of work on behalf of the user with this id; `null` for a new user. */
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

/** Declares a management API endpoint. */
export const endpoint = declaring<Contexts>();

/** Path parameters for endpoints inside an environment. */
export const EnvironmentPath = z.object({
	proj_id: Reference.describe('Project id or key.'),
	env_id: Reference.describe('Environment id or key.'),
});

/** Path parameter for endpoints inside a project. */
export const ProjectPath = z.object({ proj_id: Reference.describe('Project id or key.') });

/**
 * True for keys with write access and for PDP config keys. All other keys are read-only, and must not be able to forge
 * reports.
 */
export async function mayReport(
	account: AccountUnit,
	{ access_level, environment_id, key_id }: Caller,
): Promise<boolean> {
	if (access_level !== 'read') return true;
	return environment_id !== null && (await account.keys.findPdpConfig(environment_id, key_id)) !== undefined;
}

/**
 * True if a caller may write. Some URLs may contain secrets, so they are shown only to callers with write access.
 */
export function mayWrite({ access_level }: Caller): boolean {
	return access_level !== 'read';
}

/** Throws `forbidden` for read-only callers. */
export function refuseReader(caller: Caller): void {
	if (!mayWrite(caller)) throw forbidden('this API key has read-only access');
}

/**
 * True for full access. Secrets are shown only to callers with full access, because a secret could widen a lower access
 * level.
 */
export function isAdmin({ access_level }: Caller): boolean {
	return access_level === 'admin';
}

/** Throws `forbidden` for access levels below `admin`. */
export function requireAdmin(caller: Caller): void {
	if (!isAdmin(caller)) throw forbidden('this requires an API key with the access level admin');
}

/**
 * Returns the revision header and, after a write, the lineage header. Returns no headers for writes outside
 * environments.
 */
export function revisionHeader(revision: number | null, lineage?: string): Readonly<Record<string, string>> {
	return revision === null ? {} : revisionHeaders(revision, lineage);
}
