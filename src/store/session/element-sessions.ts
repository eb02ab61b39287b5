import type { Knex } from 'knex';
import { Model } from 'objection';
import type { Clock } from '../../clock.js';
import { asId } from '../../wire/common.js';
import { hashSecret, newToken } from '../account/secret.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { Named } from '../table/assignment-reference.js';
import { sameEnvironment } from '../table/environment-model.js';
import { membershipCondition } from '../table/tenant-user.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import type { ReadingUnit, Scope } from '../unit/reading-unit.js';

/** Ticket lifetime in seconds. */
export const ticketSeconds = 60;
/** Bearer token lifetime in seconds. */
export const bearerSeconds = 15 * 60;
/** Cookie lifetime in seconds. */
export const cookieSeconds = 12 * 60 * 60;
/** Maximum number of sign-ins per user and environment; the oldest are dropped. */
export const maxSessionsOfUser = 100;

/** Kinds of secrets for a sign-in: a ticket, which is exchanged for a cookie; a bearer token; or the cookie. */
export type SessionSecret = 'ticket' | 'bearer' | 'cookie';

/** A new sign-in with its secrets. Only their hashes are stored. */
export interface NewSession {
	readonly id: string;
	readonly secrets: Readonly<Partial<Record<SessionSecret, string>>>;
	/** Expiry of the sign-in. Spending the ticket sets a later expiry. */
	readonly expires_at: Date;
}

/** A sign-in as shown to administrators. */
export interface SessionRow {
	readonly id: string;
	readonly user_id: string;
	readonly user: string;
	readonly tenant_id: string;
	readonly tenant: string;
	readonly created_at: Date;
	readonly expires_at: Date;
	readonly last_used_at: Date | null;
}

class SessionModel extends Model {
	static override readonly tableName = 'element_sessions';
}

const lifetimes: Readonly<Record<SessionSecret, number>> = {
	ticket: ticketSeconds,
	bearer: bearerSeconds,
	cookie: cookieSeconds,
};

/**
 * Sign-ins to an environment's elements. Sign-ins are not environment objects: they have no revision, history or lock.
 */
export class ElementSessions {
	constructor(
		private readonly scope: Pick<Scope, 'environment_id'>,
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/**
	 * Signs a user in to a tenant, with a secret of each requested kind. Deletes expired sign-ins, and the user's oldest
	 * sign-ins beyond the limit. Throws `not_found` if user or tenant were deleted in the meantime.
	 */
	async begin(
		member: { readonly user: Named; readonly tenant: Named },
		kinds: readonly SessionSecret[],
	): Promise<NewSession> {
		const { user, tenant } = member;
		const { environment_id } = this.scope;
		const created_at = this.clock.now();
		const made = kinds.map((kind) => [kind, this.#newSecret(kind), after(created_at, lifetimes[kind])] as const);
		const expires_at = new Date(Math.max(...made.map(([, , until]) => until.getTime())));
		const row = {
			environment_id,
			id: this.clock.newId(),
			user_id: user.id,
			tenant_id: tenant.id,
			created_at,
			expires_at,
			...Object.fromEntries(
				made.flatMap(([kind, secret, until]) => [
					[`${kind}_hash`, hashSecret(secret)],
					[`${kind}_expires_at`, until],
				]),
			),
		};
		await insertOrNotFound('User', user.key, () => this.database('element_sessions').insert(row));
		await this.#drop(user.id, created_at);
		const secrets = Object.fromEntries(made.map(([kind, secret]) => [kind, secret]));
		return { id: row.id, secrets, expires_at };
	}

	/**
	 * Spends a ticket, and replaces it with a cookie for the same sign-in. Returns `null` if the ticket was spent or has
	 * expired. If several processes spend it concurrently, only one gets the cookie.
	 */
	async spend(ticket: string): Promise<{ readonly cookie: string; readonly expires_at: Date } | null> {
		const now = this.clock.now();
		const cookie = this.#newSecret('cookie');
		const expires_at = after(now, cookieSeconds);
		const spent = await this.#all()
			.where({ ticket_hash: hashSecret(ticket) })
			.where('ticket_expires_at', '>', now)
			.update({
				ticket_hash: null,
				ticket_expires_at: null,
				cookie_hash: hashSecret(cookie),
				cookie_expires_at: expires_at,
				expires_at,
			})
			.returning('id');
		return spent.length > 0 ? { cookie, expires_at } : null;
	}

	/** Returns the active sign-ins, oldest first. If `user_id` is passed, returns only this user's sign-ins. */
	list(user_id?: string): RowQuery<SessionRow> {
		const query = SessionModel.query(this.database)
			.where('element_sessions.environment_id', this.scope.environment_id)
			.where('element_sessions.expires_at', '>', this.clock.now())
			.join('users', sameEnvironment('element_sessions', 'user_id', 'users'))
			.join('tenants', sameEnvironment('element_sessions', 'tenant_id', 'tenants'))
			.select(shown.map((column) => `element_sessions.${column}`))
			.select('users.key as user', 'tenants.key as tenant')
			.orderBy('element_sessions.id');
		if (user_id !== undefined) query.where('element_sessions.user_id', user_id);
		return rowQuery(query.castTo<(Model & SessionRow)[]>());
	}

	/** Ends the sign-in with this id. Returns false if there is none. */
	async end(reference: string): Promise<boolean> {
		const id = asId(reference);
		if (id === null) return false;
		return (await this.#all().where({ id }).delete().returning('id')).length > 0;
	}

	async endOfUser(user_id: string): Promise<void> {
		await this.#all().where({ user_id }).delete();
	}

	/** Records that a sign-in is used, unless a use was recorded less than a minute ago. */
	async noteUse(id: string, last_used_at: Date | null): Promise<void> {
		const now = this.clock.now();
		if (last_used_at !== null && Math.abs(now.getTime() - last_used_at.getTime()) < usePrecision) return;
		// A failed write, for example on a full disk, must not fail the request. The next use is recorded instead.
		await this.#all()
			.where({ id })
			.update({ last_used_at: now })
			.catch(() => undefined);
	}

	async #drop(user_id: string, now: Date): Promise<void> {
		await this.#all().where('expires_at', '<=', now).delete();
		const kept = this.#all().where({ user_id }).orderBy('id', 'desc').limit(maxSessionsOfUser).select('id');
		await this.#all().where({ user_id }).whereNotIn('id', kept).delete();
	}

	/** Returns a new secret. A ticket contains its environment id, so a page can report why the ticket is rejected. */
	#newSecret(kind: SessionSecret): string {
		const token = newToken();
		return kind === 'ticket' ? `${this.scope.environment_id.replaceAll('-', '')}.${token}` : token;
	}

	#all(): Knex.QueryBuilder {
		return this.database('element_sessions').where({ environment_id: this.scope.environment_id });
	}
}

/** Precision for recorded times of use, in milliseconds. */
const usePrecision = 60_000;

const shown = ['id', 'user_id', 'tenant_id', 'created_at', 'expires_at', 'last_used_at'] as const;

/** Returns the environment id contained in a ticket, or `null` if the ticket contains none. */
export function environmentOfTicket(ticket: string): string | null {
	return asId(ticket.split('.', 1)[0] ?? '');
}

/**
 * Returns true if a sign-in is active and its user is still a tenant member, as seen by the unit. In a writing unit,
 * the result stays true until the commit, because ending the sign-in waits for the commit.
 */
export async function isSignedIn(unit: ReadingUnit, id: string): Promise<boolean> {
	const { rows } = await unit.raw(
		`select 1 as found from element_sessions
			where environment_id = :environment_id and id = :id and expires_at > :now
			and ${membershipCondition('element_sessions')} for key share of element_sessions`,
		{ id, now: unit.clock.now() },
	);
	return rows.length > 0;
}

function after(instant: Date, seconds: number): Date {
	return new Date(instant.getTime() + seconds * 1_000);
}
