import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { Failure, notFound } from '../../failure.js';
import { type AccessLevel, ApiKey } from '../table/account.js';
import { awaitUnits } from '../unit/caller-check.js';
import { insertOrDuplicate } from '../unit/insert-or-duplicate.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import { organizationQuery } from './account-queries.js';
import { ApiKeys, type KeyOrganization } from './api-keys.js';
import type { Caller } from './caller.js';
import { type Cipher, hashSecret, newSecret } from './secret.js';

/** API key to create. Automation may pass a fixed `secret`; by default, the secret is random. */
export interface NewApiKey {
	readonly project_id: string | null;
	readonly environment_id: string | null;
	readonly access_level: AccessLevel;
	readonly owner_type: ApiKey['owner_type'];
	readonly name: string | null;
	readonly secret?: string | null;
}

/** Columns for a key's newest refresh. */
type RefreshColumns = Pick<ApiKey, 'refresh_id' | 'refresh_revision' | 'refresh_reason'>;

/** A key with its secret, which is stored encrypted. */
export interface KeyWithSecret {
	readonly row: ApiKey;
	readonly secret: string;
}

/** Parts of an organization's unit that are needed to write keys. */
export interface WritingKeyOrganization extends KeyOrganization {
	readonly clock: Clock;
	/** Timestamp for all written rows. */
	readonly now: Date;
	/** API keys whose waiting requests end on commit. */
	readonly ended: Set<string>;
}

/** Writes an organization's API keys, in the unit's transaction. */
export class WritingApiKeys extends ApiKeys {
	constructor(
		private readonly unit: WritingKeyOrganization,
		private readonly transaction: Knex.Transaction,
		cipher: Cipher,
	) {
		super(unit, transaction, cipher);
	}

	/** Like `ApiKeys.find`, but also rejects console sessions like `ApiKeys.requireInSession`. */
	override async find(caller: Caller, reference: string): Promise<ApiKey> {
		const key = await super.find(caller, reference);
		await this.requireInSession(caller, key);
		return key;
	}

	/** Like `ApiKeys.placeFor`, but also rejects console sessions like `ApiKeys.requireInSession`. */
	override async placeFor(...asked: Parameters<ApiKeys['placeFor']>): ReturnType<ApiKeys['placeFor']> {
		const place = await super.placeFor(...asked);
		await this.requireInSession(asked[0], place);
		return place;
	}

	/**
	 * Adds an API key and returns it with its secret. Throws `not_found` if its project or environment was deleted in
	 * the meantime.
	 */
	async create(key: NewApiKey): Promise<KeyWithSecret> {
		const secret = key.secret ?? newSecret();
		const { project_id, environment_id } = key;
		const [title, opened] = environment_id ? ['Environment', environment_id] : ['Project', project_id ?? ''];
		const row = await insertOrNotFound(title, opened, () =>
			insertOrDuplicate('API key', key.name ?? 'unnamed', () =>
				ApiKey.query(this.transaction)
					.insert({
						id: this.unit.clock.newId(),
						organization_id: this.unit.organizationId,
						project_id,
						environment_id,
						object_type: environment_id ? 'env' : project_id ? 'project' : 'org',
						access_level: key.access_level,
						owner_type: key.owner_type,
						name: key.name,
						...this.#sealed(secret),
						created_at: this.unit.now,
					})
					.returning('*'),
			),
		);
		return { row, secret };
	}

	/**
	 * Rotates a key's secret. Returns the key and the secret. Throws `not_found` if the key was deleted in the meantime.
	 */
	async rotate(key: ApiKey): Promise<KeyWithSecret> {
		const secret = newSecret();
		await awaitUnits(this.transaction, key.id);
		const row = await this.#change(key, { ...this.#sealed(secret), rotated_at: this.unit.now });
		await this.#end(key);
		return { row, secret };
	}

	/** Sets whether decision points with this key log in detail. Throws like `rotate`. */
	async setDebugAuditLogs(key: ApiKey, debug_audit_logs: boolean): Promise<ApiKey> {
		return this.#change(key, { debug_audit_logs });
	}

	/**
	 * Requests a refresh from all decision points that use a key of the environment, or, if `id` is passed, only
	 * from the decision points with this key. Returns the affected keys.
	 */
	async refresh(environment_id: string, refresh: RefreshColumns, id?: string): Promise<readonly ApiKey[]> {
		const query = this.#all().where({ environment_id });
		return (id === undefined ? query : query.where({ id })).patch(refresh).returning('*');
	}

	/**
	 * Deletes a key. Throws `invalid` for the last admin key whose scope is the organization, and `not_found` if the key
	 * is already gone.
	 */
	async remove(key: ApiKey): Promise<void> {
		// The lock lasts until the transaction ends. Without it, two callers could each delete one of the last two admin
		// keys, because each would still see the other key.
		await organizationQuery(this.transaction, this.unit.organizationId).forNoKeyUpdate();
		await awaitUnits(this.transaction, key.id);
		const [removed] = await this.#all().where({ id: key.id }).delete().returning('id');
		if (removed === undefined) throw notFound('ApiKey', key.id);
		const left = await this.#all().where({ object_type: 'org', access_level: 'admin' }).resultSize();
		if (left === 0 && key.object_type === 'org' && key.access_level === 'admin') {
			throw new Failure(
				'invalid',
				`\`${key.id}\` is the last admin key of the organization: create a second admin key first`,
			);
		}
		await this.#end(key);
	}

	#all() {
		return ApiKey.query(this.transaction).where({ organization_id: this.unit.organizationId });
	}

	async #change(key: ApiKey, columns: Partial<ApiKeyColumns>): Promise<ApiKey> {
		const [row] = await this.#all().where({ id: key.id }).patch(columns).returning('*');
		if (row === undefined) throw notFound('ApiKey', key.id);
		return row as ApiKey;
	}

	/** On commit, ends waiting requests with this key, in all processes. */
	async #end(key: ApiKey): Promise<void> {
		await this.transaction.raw(`select pg_notify('regolith_key', ?)`, [key.id]);
		this.unit.ended.add(key.id);
	}

	#sealed(secret: string): Pick<ApiKey, 'secret_hash' | 'secret_cipher'> {
		return { secret_hash: hashSecret(secret), secret_cipher: this.cipher.encrypt(secret) };
	}
}

type ApiKeyColumns = Pick<ApiKey, 'secret_hash' | 'secret_cipher' | 'rotated_at' | 'debug_audit_logs'>;
