import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { Failure, notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import { hashSecret, sameHash } from '../account/secret.js';
import { Environment } from '../table/account.js';
import type { Named } from '../table/assignment-reference.js';
import { membershipCondition } from '../table/tenant-user.js';
import { ElementSessions, type SessionSecret } from './element-sessions.js';

/** Sign-in of a user to an environment's elements, in a tenant. */
export interface ElementSession {
	readonly id: string;
	readonly user: Named;
	readonly tenant: Named;
	readonly environment: Environment;
	readonly project_key: string;
	/** When the presented secret expires. */
	readonly expires_at: Date;
}

/** Returns the failure for requests without a sign-in. It is the same failure for every reason. */
export function signedOut(): Failure {
	return new Failure('signed_out', 'no valid elements session: sign in again');
}

interface Row {
	readonly session: Pick<ElementSession, 'id' | 'user' | 'tenant' | 'project_key'>;
	readonly session_hash: Uint8Array;
	readonly session_expires_at: Date;
	readonly session_used_at: Date | null;
	readonly session_member: boolean;
}

/** Entry for users without an API key. Finds their sign-in, or the environment they sign in to. */
export class ElementEntrance {
	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/**
	 * Returns the sign-in with this secret, and records the use. Returns `null` if the sign-in does not exist or has
	 * expired, or if the user is no longer a tenant member, which ends the sign-in.
	 */
	async find(kind: SessionSecret, secret: string): Promise<ElementSession | null> {
		const hash = hashSecret(secret);
		const { rows } = await this.database.raw<{ readonly rows: readonly (Row & Readonly<Record<string, unknown>>)[] }>(
			statements[kind],
			{ hash, now: this.clock.now() },
		);
		const [row] = rows;
		if (row === undefined || !sameHash(row.session_hash, hash)) return null;
		const { session, session_hash: _, session_expires_at, session_used_at, session_member, ...columns } = row;
		const environment = Environment.fromDatabaseJson(columns);
		const sessions = this.sessionsOf(environment);
		if (!session_member) {
			await sessions.end(session.id);
			return null;
		}
		if (kind !== 'ticket') await sessions.noteUse(session.id, session_used_at);
		return { ...session, environment, expires_at: session_expires_at };
	}

	/** Ends the sign-in with this secret, if it exists. */
	async end(kind: SessionSecret, secret: string): Promise<void> {
		await this.database('element_sessions')
			.where({ [`${kind}_hash`]: hashSecret(secret) })
			.delete();
	}

	/** Sign-ins to an environment. */
	sessionsOf({ id }: Pick<Environment, 'id'>): ElementSessions {
		return new ElementSessions({ environment_id: id }, this.database, this.clock);
	}

	/** Returns the environment with this id. Throws `not_found`. */
	async environment(reference: string): Promise<Environment> {
		const environment = await this.findEnvironment(reference);
		if (environment === null) throw notFound('Environment', reference);
		return environment;
	}

	/** Returns the environment with this id, or `null` if there is none. */
	async findEnvironment(reference: string): Promise<Environment | null> {
		const id = asId(reference);
		return id === null ? null : ((await Environment.query(this.database).findById(id)) ?? null);
	}

	/** Returns true if any environment allows pages from this origin to embed its elements. */
	async isEmbedded(origin: string): Promise<boolean> {
		const { rows } = await this.database.raw<{ readonly rows: readonly unknown[] }>(
			`select 1 as embedded from environments where settings -> 'elements_origins' @> to_jsonb(:origin::text) limit 1`,
			{ origin },
		);
		return rows.length > 0;
	}
}

/** Statements that find a sign-in and its environment, one for each kind of secret. */
const statements: Readonly<Record<SessionSecret, string>> = {
	ticket: findingBy('ticket'),
	bearer: findingBy('bearer'),
	cookie: findingBy('cookie'),
};

function findingBy(kind: SessionSecret): string {
	return `select environments.*,
		json_build_object(
			'id', found.id,
			'user', json_build_object('id', users.id, 'key', users.key),
			'tenant', json_build_object('id', tenants.id, 'key', tenants.key),
			'project_key', projects.key
		) as session,
		found.${kind}_hash as session_hash,
		found.${kind}_expires_at as session_expires_at,
		found.last_used_at as session_used_at,
		${membershipCondition('found')} as session_member
	from element_sessions as found
	join environments on environments.id = found.environment_id
	join projects on projects.id = environments.project_id
	join users on users.environment_id = found.environment_id and users.id = found.user_id
	join tenants on tenants.environment_id = found.environment_id and tenants.id = found.tenant_id
	where found.${kind}_hash = :hash and found.${kind}_expires_at > :now`;
}
