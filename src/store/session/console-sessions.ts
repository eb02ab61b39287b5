import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { Failure } from '../../failure.js';
import type { Caller } from '../account/caller.js';
import { findDeletedEnvironment } from '../account/deleted-environments.js';
import type { KeyUses } from '../account/key-uses.js';
import { hashSecret, newToken, sameHash } from '../account/secret.js';
import type { ApiKey } from '../table/account.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import type { TicketKey } from './console-tickets.js';

/** Idle time until a session ends, in seconds. */
export const consoleIdleSeconds = 8 * 60 * 60;
/** Maximum session lifetime, regardless of use, in seconds. */
export const consoleLifetimeSeconds = 24 * 60 * 60;
/** Age at which a secret is replaced by the next request, in seconds. */
export const consoleRotationSeconds = 5 * 60;
/** Validity of the previous secret after the new secret was first used, in seconds. */
export const consoleGraceSeconds = 60;
/** Maximum number of sessions per API key; the oldest are dropped. */
export const maxConsoleSessionsOfKey = 100;

/** Retention period for ended sessions, to report why they ended, in milliseconds. */
const memory = 24 * 3_600_000;
/** Precision for recorded times of use, in milliseconds. */
const usePrecision = 60_000;

/** Session as presented by a request. */
export interface ShownConsoleSession {
	/** Environment id of the session, as sent by the request. */
	readonly environment_id: string;
	/** Empty if the request has no secret. */
	readonly secret: string;
}

/** Reason why a secret has no active session. */
export type SessionEnd =
	| 'SIGNED_OUT'
	| 'IDLE'
	| 'EXPIRED'
	| 'API_KEY_REVOKED'
	| 'API_KEY_ROTATED'
	| 'ENVIRONMENT_DELETED';

/** A current or ended session identified by its secret. */
export interface ConsoleSession {
	readonly environment_id: string;
	readonly environment_key: string;
	readonly project_id: string;
	readonly project_key: string;
	readonly organization_id: string;
	readonly api_key_id: string;
	readonly key_fingerprint: Uint8Array;
	readonly last_used_at: Date;
	/** Signed-in caller, or the reason why the session ended. */
	readonly signedIn: Caller | SessionEnd;
}

interface Row extends Omit<ConsoleSession, 'signedIn'> {
	readonly id: string;
	readonly secret_hash: Uint8Array;
	readonly previous_hash: Uint8Array | null;
	readonly previous_until: Date | null;
	readonly rotated_at: Date;
	readonly created_at: Date;
	/** Hash of the API key's current secret; `null` if the key was deleted. */
	readonly present_hash: Uint8Array | null;
	readonly key_used_at: Date | null;
	readonly opened_project_id: string | null;
	readonly opened_environment_id: string | null;
	readonly object_type: ApiKey['object_type'] | null;
	readonly access_level: ApiKey['access_level'] | null;
}

/** Console sessions. Each session belongs to an environment and has the rights of an API key there. */
export class ConsoleSessions {
	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
		private readonly uses: KeyUses,
	) {}

	/**
	 * Signs in to an environment. Returns the secret. Throws `not_found` if the environment was deleted in the
	 * meantime.
	 */
	async begin(
		environment: { readonly id: string; readonly organization_id: string },
		{ api_key_id, key_fingerprint }: TicketKey,
	): Promise<string> {
		const secret = newToken();
		const now = this.clock.now();
		const row = {
			environment_id: environment.id,
			id: this.clock.newId(),
			organization_id: environment.organization_id,
			api_key_id,
			key_fingerprint,
			secret_hash: hashSecret(secret),
			rotated_at: now,
			created_at: now,
			last_used_at: now,
		};
		await insertOrNotFound('Environment', environment.id, () => this.database('console_sessions').insert(row));
		const ofKey = () => this.database('console_sessions').where({ api_key_id });
		const kept = ofKey().orderBy('id', 'desc').limit(maxConsoleSessionsOfKey).select('id');
		await ofKey().whereNotIn('id', kept).delete();
		return secret;
	}

	/**
	 * Returns the caller for a presented session, with the rights of the session's API key. Records that the key was used
	 * and, unless `watching` is true, that the session was used. Throws `signed_out` with the reason if the session is
	 * not active.
	 */
	async identify(shown: ShownConsoleSession, { watching = false } = {}): Promise<Caller> {
		const [found] = await this.#rows([shown]);
		if (found === undefined) throw signedOut(await this.endOfUnknown(shown));
		const { row, hash } = found;
		const caller = this.#judge(row, hash);
		if (typeof caller === 'string') throw signedOut(caller);
		if (!watching) await this.#noteUse(row, hash);
		const { organization_id, key_used_at: last_used_at } = row;
		this.uses.note({ id: row.api_key_id, organization_id, last_used_at });
		return caller;
	}

	/** Returns the current and ended sessions with these secrets, most recently used first. Does not record a use. */
	async find(shown: readonly ShownConsoleSession[]): Promise<readonly ConsoleSession[]> {
		const found = await this.#rows(shown);
		return found
			.map(({ row, hash }) => ({ ...row, signedIn: this.#judge(row, hash) }))
			.sort((left, right) => right.last_used_at.getTime() - left.last_used_at.getTime());
	}

	/** Returns the reason why a secret has no stored session. */
	async endOfUnknown({ environment_id, secret }: ShownConsoleSession): Promise<SessionEnd> {
		const deleted = secret !== '' && (await findDeletedEnvironment(this.database, secret)) === environment_id;
		return deleted ? 'ENVIRONMENT_DELETED' : 'SIGNED_OUT';
	}

	/**
	 * Replaces a session's secret and returns the new secret if a rotation is due; otherwise returns `null`. The
	 * presented secret stays valid until the new secret is used, because the response may get lost, and then for 60 more
	 * seconds, for requests that are still running.
	 */
	async rotate({ environment_id, secret }: ShownConsoleSession): Promise<string | null> {
		const fresh = newToken();
		const now = this.clock.now();
		const names = {
			environment_id,
			shown: hashSecret(secret),
			fresh: hashSecret(fresh),
			now,
			old: before(now, consoleRotationSeconds),
			lost: before(now, consoleGraceSeconds),
			ahead: before(now, -consoleGraceSeconds),
		};
		// A failed write, for example on a full disk, must not fail the request. A later request rotates the secret
		// instead.
		const rotated = await this.database
			.raw<{ readonly rows: readonly unknown[] }>(rotation, names)
			.catch(() => ({ rows: [] }));
		return rotated.rows.length > 0 ? fresh : null;
	}

	/** Ends the session with this secret, if it exists. */
	async end({ environment_id, secret }: ShownConsoleSession): Promise<void> {
		const hash = hashSecret(secret);
		await this.database('console_sessions')
			.where({ environment_id })
			.where((either) => either.where({ secret_hash: hash }).orWhere({ previous_hash: hash }))
			.delete();
	}

	/** Removes sessions that ended long ago. */
	async forgetOld(): Promise<void> {
		const oldest = new Date(this.clock.now().getTime() - consoleIdleSeconds * 1_000 - memory);
		await this.database('console_sessions').where('last_used_at', '<', oldest).delete();
	}

	/**
	 * Returns the session rows with these secrets, each with the presented secret's hash. A secret is only looked up in
	 * its environment.
	 */
	async #rows(shown: readonly ShownConsoleSession[]): Promise<readonly { row: Row; hash: Uint8Array }[]> {
		if (shown.length === 0) return [];
		const asked = shown.map(({ environment_id, secret }) => ({ environment_id, hash: hashSecret(secret) }));
		const hashes = asked.map(({ hash }) => hash);
		const rows = await this.database<Row>('console_sessions')
			.join('environments', 'environments.id', 'console_sessions.environment_id')
			.join('projects', 'projects.id', 'environments.project_id')
			.leftJoin('api_keys', 'api_keys.id', 'console_sessions.api_key_id')
			.where((either) =>
				either.whereIn('console_sessions.secret_hash', hashes).orWhereIn('console_sessions.previous_hash', hashes),
			)
			.select<Row[]>(
				'console_sessions.*',
				'environments.key as environment_key',
				'projects.id as project_id',
				'projects.key as project_key',
				'api_keys.secret_hash as present_hash',
				'api_keys.last_used_at as key_used_at',
				'api_keys.project_id as opened_project_id',
				'api_keys.environment_id as opened_environment_id',
				'api_keys.object_type',
				'api_keys.access_level',
			);
		return asked.flatMap(({ environment_id, hash }) => {
			const row = rows.find((one) => one.environment_id === environment_id && isSecret(one, hash));
			return row === undefined ? [] : [{ row, hash }];
		});
	}

	#judge(row: Row, hash: Uint8Array): Caller | SessionEnd {
		const now = this.clock.now();
		const { previous_until, present_hash, object_type, access_level } = row;
		if (!sameHash(row.secret_hash, hash) && previous_until !== null && previous_until <= now) return 'SIGNED_OUT';
		if (areApart(now, row.last_used_at, consoleIdleSeconds)) return 'IDLE';
		if (areApart(now, row.created_at, consoleLifetimeSeconds)) return 'EXPIRED';
		if (present_hash === null || object_type === null || access_level === null) return 'API_KEY_REVOKED';
		if (!sameHash(present_hash, row.key_fingerprint)) return 'API_KEY_ROTATED';
		return {
			key_id: row.api_key_id,
			organization_id: row.organization_id,
			project_id: row.opened_project_id,
			environment_id: row.opened_environment_id,
			object_type,
			access_level,
			secret_hash: present_hash,
			session: { id: row.id, environment_id: row.environment_id },
			session_environment_id: row.environment_id,
		};
	}

	/** Records when a session was used, to the minute, and that the client has received its newest secret. */
	async #noteUse(
		{ environment_id, id, secret_hash, previous_hash, previous_until, last_used_at }: Row,
		hash: Uint8Array,
	) {
		const now = this.clock.now();
		const arrived = previous_hash !== null && previous_until === null && sameHash(secret_hash, hash);
		if (!arrived && Math.abs(now.getTime() - last_used_at.getTime()) < usePrecision) return;
		const until = new Date(now.getTime() + consoleGraceSeconds * 1_000);
		await this.database('console_sessions')
			.where({ environment_id, id, secret_hash })
			.update(arrived ? { last_used_at: now, previous_until: until } : { last_used_at: now })
			.catch(() => undefined);
	}
}

function isSecret({ secret_hash, previous_hash }: Row, hash: Uint8Array): boolean {
	return sameHash(secret_hash, hash) || (previous_hash !== null && sameHash(previous_hash, hash));
}

/**
 * Replaces a session's secret in three cases: the newest secret is old, it seems to have been lost in transit, or it
 * was created before the clock was set back.
 */
const rotation = `update console_sessions
	set previous_hash = :shown, previous_until = null, secret_hash = :fresh, rotated_at = :now
	where environment_id = :environment_id and (
		(secret_hash = :shown and (rotated_at <= :old or rotated_at > :ahead))
		or (previous_hash = :shown and previous_until is null and rotated_at <= :lost)
	)
	returning id`;

const ends: Readonly<Record<SessionEnd, string>> = {
	SIGNED_OUT: 'no valid console session: sign in',
	IDLE: 'this session ended after eight hours without use: sign in again',
	EXPIRED: 'this session ended after a day: sign in again',
	API_KEY_REVOKED: "this session's API key was deleted: sign in with a different key",
	API_KEY_ROTATED: "this session's API key was rotated: sign in with the new secret",
	ENVIRONMENT_DELETED: "this session's environment was deleted",
};

/**
 * Returns the failure for a request whose session has ended. The failure's message and `additional_info.code` contain
 * the reason.
 */
export function signedOut(code: SessionEnd): Failure {
	return new Failure('signed_out', ends[code], { code });
}

/** Returns true if two times are at least this far apart, in either direction: the clock may have been set back. */
function areApart(one: Date, other: Date, seconds: number): boolean {
	return Math.abs(one.getTime() - other.getTime()) >= seconds * 1_000;
}

function before(instant: Date, seconds: number): Date {
	return new Date(instant.getTime() - seconds * 1_000);
}
