import type { Knex } from 'knex';
import type { ApiKey } from '../table/account.js';

/** An API key as a request has shown it. */
export interface KeyHolder {
	readonly key_id: string;
	readonly organization_id: string;
	readonly access_level: ApiKey['access_level'];
	/** The hash of its secret. */
	readonly secret_hash: Uint8Array;
	/** The session of the console that stands for the key; absent for requests with the key itself. */
	readonly session?: { readonly id: string; readonly environment_id: string };
}

/** Whose unit of work it is: a caller by API key, a user of elements by id, or `null` for the server itself. */
export type Actor = KeyHolder | string | null;

/** The API key or the console session of a caller ended after its request was let in. */
export class LostStanding extends Error {
	constructor() {
		super('the API key or the session of this request has ended');
	}
}

/** A row to lock before a caller is checked: the statement that locks it returns one row. */
export interface Root {
	readonly table: 'environments' | 'organizations';
	readonly id: string;
	/** SQL that finds the lineage of the database; absent where nobody asks. */
	readonly lineage?: string;
}

/** The result of a check. */
export interface Standing {
	/** Whether there is such a root. */
	readonly found: boolean;
	/** Whether the caller still stands. */
	readonly stands: boolean;
	/** The lineage of the database; `null` where the SQL of `root` found none. */
	readonly lineage: string | null;
}

/** The actor as change logs name it. */
export function actorId(actor: Actor): string | null {
	return typeof actor === 'object' ? (actor?.key_id ?? null) : actor;
}

/** The caller of an actor, whose standing units check; `null` for actors without an API key. */
export function callerOf(actor: Actor): KeyHolder | null {
	return typeof actor === 'object' ? actor : null;
}

/** Names what `checkStanding` checks: equal names stand or fall together. */
export function standingName({ key_id, secret_hash, access_level, session }: KeyHolder): string {
	return [key_id, Buffer.from(secret_hash).toString('base64'), access_level, session?.id].join(' ');
}

/**
 * Locks `root`, then checks in the same statement that the caller's API key still has its secret and its access level,
 * and that its console session, if any, is still there. Both stay so until the transaction ends, because their rows are
 * locked: who deletes or rotates the key or signs out waits for the commit. Reads the newest rows, not a snapshot from
 * before the wait for `root`. Units wait behind an end that waits (`awaitUnits`), so a busy key can be ended.
 */
export async function checkStanding(
	transaction: Knex.Transaction,
	caller: KeyHolder | null,
	root: Root | null,
): Promise<Standing> {
	const parts = [
		...(root === null
			? []
			: [`root as materialized (select id from "${root.table}" where id = :root for no key update)`]),
		...(caller === null ? [] : [`held as materialized (${holding(caller, root !== null)})`]),
	];
	if (parts.length === 0) return { found: true, stands: true, lineage: null };
	const stands = caller === null ? 'true' : 'exists (select from held)';
	const from = root === null ? '' : ' from root';
	const sql = `with ${parts.join(', ')} select ${stands} as stands, ${root?.lineage ?? 'null'} as lineage${from}`;
	const bindings = { ...caller, ...sessionBindings(caller?.session), ...(root !== null && { root: root.id }) };
	const { rows } = await transaction
		.raw<{ rows: readonly Omit<Standing, 'found'>[] }>(sql, bindings)
		.options({ name: statementName(sql) });
	return { found: rows.length > 0, stands: rows[0]?.stands === true, lineage: rows[0]?.lineage ?? null };
}

/** The names of prepared statements, by their text: planning one costs more than running it. */
const statements = new Map<string, string>();

function statementName(sql: string): string {
	const name = statements.get(sql) ?? `standing_${statements.size}`;
	statements.set(sql, name);
	return name;
}

/** Waits for the units of an API key that are under way, and keeps others out until the transaction ends. */
export async function awaitUnits(transaction: Knex.Transaction, keyId: string): Promise<void> {
	await transaction.raw(`select pg_advisory_xact_lock(${turn('?::text')})`, [keyId]);
}

/** The bindings of a session. */
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

/** The advisory lock of an API key. */
function turn(keyId: string): string {
	return `hashtextextended('api key ' || ${keyId}, 0)`;
}
