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

/** How long a session may be unused before it ends, in seconds. */
export const consoleIdleSeconds = 8 * 60 * 60;
/** How long a session lasts at most, however much it is used, in seconds. */
export const consoleLifetimeSeconds = 24 * 60 * 60;
/** How old a secret may be before a request that shows it gets another, in seconds. */
export const consoleRotationSeconds = 5 * 60;
/** How long the secret before counts, from the first use of the one after it, in seconds. */
export const consoleGraceSeconds = 60;
/** How many sessions of one API key are kept: the newest. */
export const maxConsoleSessionsOfKey = 100;

/** How long a session that has ended is remembered, so that it can be told why, in milliseconds. */
const memory = 24 * 3_600_000;
/** How exact the recorded times of use are, in milliseconds. */
const usePrecision = 60_000;

/** What a request shows of a session. */
export interface ShownConsoleSession {
	/** The id of the environment that it says the session is of. */
	readonly environment_id: string;
	/** Empty where it shows none. */
	readonly secret: string;
}

/** Why nobody is signed in with a secret. */
export type SessionEnd =
	| 'SIGNED_OUT'
	| 'IDLE'
	| 'EXPIRED'
	| 'API_KEY_REVOKED'
	| 'API_KEY_ROTATED'
	| 'ENVIRONMENT_DELETED';

/** A session that a secret stands for, or stood for. */
export interface ConsoleSession {
	readonly environment_id: string;
	readonly environment_key: string;
	readonly project_id: string;
	readonly project_key: string;
	readonly organization_id: string;
	readonly api_key_id: string;
	readonly key_fingerprint: Uint8Array;
	readonly last_used_at: Date;
	/** Who is signed in, or why nobody is any more. */
	readonly signedIn: Caller | SessionEnd;
}

interface Row extends Omit<ConsoleSession, 'signedIn'> {
	readonly id: string;
	readonly secret_hash: Uint8Array;
	readonly previous_hash: Uint8Array | null;
	readonly previous_until: Date | null;
	readonly rotated_at: Date;
	readonly created_at: Date;
	/** Of the API key; `null` where it is gone. */
	readonly present_hash: Uint8Array | null;
	readonly key_used_at: Date | null;
	readonly opened_project_id: string | null;
	readonly opened_environment_id: string | null;
	readonly object_type: ApiKey['object_type'] | null;
	readonly access_level: ApiKey['access_level'] | null;
}

/** Who is signed in to the console. Each session is of one environment, and has the rights of one API key there. */
export class ConsoleSessions {
	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
		private readonly uses: KeyUses,
	) {}

	/** Signs in to an environment. Returns the secret. Throws `not_found` when the environment was deleted meanwhile. */
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
	 * The caller whose session a request shows, with the rights of its key. Records that it was used, unless `watching`.
	 * Throws `signed_out`, which says why.
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

	/** The sessions that these secrets stand for, or stood for; the most recently used first. Records nothing. */
	async find(shown: readonly ShownConsoleSession[]): Promise<readonly ConsoleSession[]> {
		const found = await this.#rows(shown);
		return found
			.map(({ row, hash }) => ({ ...row, signedIn: this.#judge(row, hash) }))
			.sort((left, right) => right.last_used_at.getTime() - left.last_used_at.getTime());
	}

	/** Why a secret that stands for no session that is remembered does not. */
	async endOfUnknown({ environment_id, secret }: ShownConsoleSession): Promise<SessionEnd> {
		const deleted = secret !== '' && (await findDeletedEnvironment(this.database, secret)) === environment_id;
		return deleted ? 'ENVIRONMENT_DELETED' : 'SIGNED_OUT';
	}

	/**
	 * Gives a session another secret when it is time; `null` when it is not. The one that was shown goes on counting: until
	 * the other has been used, because an answer may not arrive, and then for a minute, for requests under way.
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
		// Nobody is refused because this cannot be written, as on a full disk: a later request makes up for it.
		const rotated = await this.database
			.raw<{ readonly rows: readonly unknown[] }>(rotation, names)
			.catch(() => ({ rows: [] }));
		return rotated.rows.length > 0 ? fresh : null;
	}

	/** Ends the session that a secret stands for, if there is one. */
	async end({ environment_id, secret }: ShownConsoleSession): Promise<void> {
		const hash = hashSecret(secret);
		await this.database('console_sessions')
			.where({ environment_id })
			.where((either) => either.where({ secret_hash: hash }).orWhere({ previous_hash: hash }))
			.delete();
	}

	/** Forgets the sessions that ended long ago. */
	async forgetOld(): Promise<void> {
		const oldest = new Date(this.clock.now().getTime() - consoleIdleSeconds * 1_000 - memory);
		await this.database('console_sessions').where('last_used_at', '<', oldest).delete();
	}

	/** The rows that these secrets are of, each in its environment, with the hash of the secret. */
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

	/** Records the use of a session, to the minute, and that its newest secret has arrived. */
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
 * Gives a session another secret: when the newest is old, seems to have been lost on its way, or was made before the clock
 * was set back.
 */
const rotation = `update console_sessions
	set previous_hash = :shown, previous_until = null, secret_hash = :fresh, rotated_at = :now
	where environment_id = :environment_id and (
		(secret_hash = :shown and (rotated_at <= :old or rotated_at > :ahead))
		or (previous_hash = :shown and previous_until is null and rotated_at <= :lost)
	)
	returning id`;

const ends: Readonly<Record<SessionEnd, string>> = {
	SIGNED_OUT: 'nobody is signed in to the console with this: sign in',
	IDLE: 'this session was not used for eight hours, so it has ended: sign in again',
	EXPIRED: 'this session is a day old, so it has ended: sign in again',
	API_KEY_REVOKED: 'the API key of this session was deleted: sign in with another',
	API_KEY_ROTATED: 'the API key of this session has another secret by now: sign in with that',
	ENVIRONMENT_DELETED: 'the environment of this session was deleted',
};

/** The failure of a request whose session has ended: its message says why, and so does `additional_info.code`. */
export function signedOut(code: SessionEnd): Failure {
	return new Failure('signed_out', ends[code], { code });
}

/** True at so many seconds between two times, also into the future: the clock may have been set back. */
function areApart(one: Date, other: Date, seconds: number): boolean {
	return Math.abs(one.getTime() - other.getTime()) >= seconds * 1_000;
}

function before(instant: Date, seconds: number): Date {
	return new Date(instant.getTime() - seconds * 1_000);
}
