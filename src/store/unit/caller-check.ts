import type { Knex } from 'knex';
import type { ApiKey } from '../table/account.js';

/** API key as presented by a request. */
export interface KeyHolder {
	readonly key_id: string;
	readonly organization_id: string;
	readonly access_level: ApiKey['access_level'];
	readonly secret_hash: Uint8Array;
	/** Console session acting for the key; absent for requests with the key itself. */
	readonly session?: { readonly id: string; readonly environment_id: string };
}

/** Unit author: a caller with an API key, an element user by id, or `null` for the server itself. */
export type Actor = KeyHolder | string | null;

/** The caller's API key or console session ended after the request was admitted. */
export class LostAccess extends Error {
	constructor() {
		super('the API key or session of this request is no longer valid');
	}
}

/** Row to lock before a caller is checked. */
export interface Root {
	readonly table: 'environments' | 'organizations';
	readonly id: string;
	/** SQL for the database's lineage; absent if the lineage is not needed. */
	readonly lineage?: string;
}

export interface CallerCheck {
	/** True if the root exists. */
	readonly found: boolean;
	/** True if the caller still has access. */
	readonly hasAccess: boolean;
	/** The database's lineage; `null` if the SQL in `root` found none. */
	readonly lineage: string | null;
}

/** Returns the actor's id for the change log. */
export function actorId(actor: Actor): string | null {
	return typeof actor === 'object' ? (actor?.key_id ?? null) : actor;
}

/** Returns the caller that units must check for this actor; `null` for actors without an API key. */
export function callerOf(actor: Actor): KeyHolder | null {
	return typeof actor === 'object' ? actor : null;
}

/** Returns a cache key for `checkCaller`. Within a transaction, checks with equal keys have equal results. */
export function callerCheckKey({ key_id, secret_hash, access_level, session }: KeyHolder): string {
	return [key_id, Buffer.from(secret_hash).toString('base64'), access_level, session?.id].join(' ');
}

/**
 * Locks `root`, then checks in the same statement: the caller's API key still has its secret and access level, and its
 * console session, if any, still exists. Their rows stay locked until the transaction ends, so deleting or rotating the
 * key or signing out waits for the commit. Reads the newest rows, and not a snapshot from before the wait for `root`.
 * While a deletion or rotation waits for its turn (`awaitUnits`), new units queue behind it, so even a busy key can be
 * deleted.
 */
export async function checkCaller(
	transaction: Knex.Transaction,
	caller: KeyHolder | null,
	root: Root | null,
): Promise<CallerCheck> {
	const parts = [
		...(root === null
			? []
			: [`root as materialized (select id from "${root.table}" where id = :root for no key update)`]),
		...(caller === null ? [] : [`held as materialized (${holding(caller, root !== null)})`]),
	];
	if (parts.length === 0) return { found: true, hasAccess: true, lineage: null };
	const hasAccess = caller === null ? 'true' : 'exists (select from held)';
	const from = root === null ? '' : ' from root';
	const sql = `with ${parts.join(', ')} select ${hasAccess} as "hasAccess", ${root?.lineage ?? 'null'} as lineage${from}`;
	const bindings = { ...caller, ...sessionBindings(caller?.session), ...(root !== null && { root: root.id }) };
	const { rows } = await transaction
		.raw<{ rows: readonly Omit<CallerCheck, 'found'>[] }>(sql, bindings)
		.options({ name: statementName(sql) });
	return { found: rows.length > 0, hasAccess: rows[0]?.hasAccess === true, lineage: rows[0]?.lineage ?? null };
}

/**
 * Names of prepared statements, keyed by SQL. The statements are prepared, because planning them costs more than
 * running them.
 */
const statements = new Map<string, string>();

function statementName(sql: string): string {
	const name = statements.get(sql) ?? `caller_check_${statements.size}`;
	statements.set(sql, name);
	return name;
}

/** Waits for an API key's running units, and blocks new units until the transaction ends. */
export async function awaitUnits(transaction: Knex.Transaction, keyId: string): Promise<void> {
	await transaction.raw(`select pg_advisory_xact_lock(${turn('?::text')})`, [keyId]);
}

function sessionBindings(session: KeyHolder['session']): Readonly<Record<string, string>> {
	return session === undefined ? {} : { session_id: session.id, session_environment: session.environment_id };
}

function holding({ session: shown }: KeyHolder, rooted: boolean): string {
	const session = shown === undefined ? null : 'console_sessions';
	return `select api_keys.id
		from (select pg_advisory_xact_lock_shared(${turn(':key_id::text')})${rooted ? ' from root' : ''}) as turn
		cross join "api_keys" ${session === null ? '' : `cross join ${session}`}
		where api_keys.organization_id = :organization_id and api_keys.id = :key_id and api_keys.secret_hash = :secret_hash and api_keys.access_level = :access_level
		${session === null ? '' : `and ${session}.environment_id = :session_environment and ${session}.id = :session_id`}
		for key share of api_keys${session === null ? '' : `, ${session}`}`;
}

/** SQL for an API key's advisory lock id. */
function turn(keyId: string): string {
	return `hashtextextended('api key ' || ${keyId}, 0)`;
}
