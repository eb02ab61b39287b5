import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { Failure, notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import { hashSecret, sameHash } from '../account/secret.js';
import { Environment } from '../table/account.js';
import type { Named } from '../table/role-assignment.js';
import { membershipCondition } from '../table/tenant-user.js';
import { ElementSessions, type SessionSecret } from './element-sessions.js';

/** A user who is signed in to the elements of an environment, in one tenant. */
export interface ElementSession {
	readonly id: string;
	readonly user: Named;
	readonly tenant: Named;
	readonly environment: Environment;
	/** The key of the environment's project. */
	readonly project_key: string;
	/** When what the caller has shown expires. */
	readonly expires_at: Date;
}

/** The one failure of everybody who is not signed in, whatever the reason (contract: Elements session). */
export function signedOut(): Failure {
	return new Failure('signed_out', 'nobody is signed in with this: sign in again');
}

interface Row {
	readonly session: Pick<ElementSession, 'id' | 'user' | 'tenant' | 'project_key'>;
	readonly session_hash: Uint8Array;
	readonly session_expires_at: Date;
	readonly session_used_at: Date | null;
	readonly session_member: boolean;
}

/** Where those enter who have no API key: finds their sign-in, or the environment that they want to sign in to. */
export class ElementEntrance {
	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/**
	 * The sign-in that a secret of this kind stands for; `null` when it stands for none, has expired, or its user does not
	 * belong to the tenant any more, which ends it. Records that it was used.
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

	/** Ends the sign-in that a secret stands for, if there is one. */
	async end(kind: SessionSecret, secret: string): Promise<void> {
		await this.database('element_sessions')
			.where({ [`${kind}_hash`]: hashSecret(secret) })
			.delete();
	}

	/** The sign-ins of an environment. */
	sessionsOf({ id }: Pick<Environment, 'id'>): ElementSessions {
		return new ElementSessions({ environment_id: id }, this.database, this.clock);
	}

	/** The environment with this id. Throws `not_found`. */
	async environment(reference: string): Promise<Environment> {
		const environment = await this.findEnvironment(reference);
		if (environment === null) throw notFound('Environment', reference);
		return environment;
	}

	/** The environment with this id; `null` when there is none. */
	async findEnvironment(reference: string): Promise<Environment | null> {
		const id = asId(reference);
		return id === null ? null : ((await Environment.query(this.database).findById(id)) ?? null);
	}

	/** Whether any environment lets pages of this origin embed its elements. */
	async isEmbedded(origin: string): Promise<boolean> {
		const { rows } = await this.database.raw<{ readonly rows: readonly unknown[] }>(
			`select 1 as embedded from environments where settings -> 'elements_origins' @> to_jsonb(:origin::text) limit 1`,
			{ origin },
		);
		return rows.length > 0;
	}
}

/** How a sign-in is found by a secret of each kind, with its environment, in one statement. */
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
