import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { notFound } from '../../failure.js';
import { Environment, Organization, Project } from '../table/account.js';
import { type KeyHolder, LostAccess } from '../unit/caller-check.js';
import type { ChangedRecord } from '../unit/change.js';
import { hasValues } from '../unit/change-record.js';
import { insertOrDuplicate } from '../unit/insert-or-duplicate.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import { lockEnvironment } from '../unit/lock-environment.js';
import { WritingUnit } from '../unit/writing-unit.js';
import { AccountUnit, environmentScope } from './account.js';
import { environmentQuery, organizationQuery, projectQuery } from './account-queries.js';
import { CopyTasks } from './copy-task.js';
import { rememberKeys } from './deleted-environments.js';
import type { Cipher } from './secret.js';
import { WritingApiKeys } from './writing-api-keys.js';

/** Columns set by the caller; the unit adds ids and times. */
type Fields<R> = Partial<Omit<R, 'id' | 'organization_id' | 'project_id' | 'created_at' | 'updated_at' | keyof object>>;

/** Project fields set by the caller. */
export type ProjectFields = Fields<
	Pick<Project, 'name' | 'description' | 'urn_namespace' | 'settings' | 'active_policy_repo_id'>
>;

/** Organization fields that can be changed. */
export type OrganizationFields = Fields<Pick<Organization, 'name' | 'settings'>>;

/** Environment fields set by the caller. */
export type EnvironmentFields = Fields<
	Pick<Environment, 'name' | 'description' | 'custom_branch_name' | 'jwks' | 'settings'>
>;

/** Author of changes to an organization's objects. */
export interface AccountWriter {
	/** API key that writes; `null` for the server itself. */
	readonly id: string | null;
	/**
	 * Caller that must still be checked within each environment; `null` if the transaction has already checked the
	 * caller.
	 */
	readonly unchecked: KeyHolder | null;
}

/** Writes an organization's projects, environments and keys in a single transaction. */
export class WritingAccountUnit extends AccountUnit {
	/** Environments whose decision points are notified on commit. */
	readonly touched = new Set<string>();
	/** API keys whose waiting requests end on commit. */
	readonly ended = new Set<string>();

	constructor(
		organizationId: string,
		private readonly transaction: Knex.Transaction,
		clock: Clock,
		cipher: Cipher,
		private readonly writer: AccountWriter,
		/** Timestamp for all written rows. */
		readonly now: Date,
		/** Lineage of the revisions created by this unit. */
		readonly lineage: string,
	) {
		super(organizationId, transaction, clock, cipher);
	}

	override get keys(): WritingApiKeys {
		return new WritingApiKeys(this, this.transaction, this.cipher);
	}

	/**
	 * Writes within an environment in this organization, in the same transaction. Returns the environment's revision
	 * after `work`. Throws `not_found`, and `LostAccess` if an unchecked writer has lost access.
	 */
	async within(environment: Environment, work: (unit: WritingUnit) => Promise<unknown>): Promise<number> {
		const { transaction, clock, cipher, writer, now } = this;
		const { hasAccess } = await lockEnvironment(transaction, environment.id, writer.unchecked);
		if (!hasAccess) throw new LostAccess();
		const unit = new WritingUnit(environmentScope(environment), transaction, clock, cipher, writer.id, now);
		await work(unit);
		this.touched.add(environment.id);
		return unit.finish();
	}

	/** Copy tasks from an environment, in the same transaction. */
	copyTasks(environmentId: string): CopyTasks {
		return new CopyTasks(this.transaction, environmentId);
	}

	/**
	 * Locks the environment with this id until the commit. Other writers in the environment wait. Throws `not_found` if
	 * it was deleted in the meantime.
	 */
	async locked(environmentId: string): Promise<Environment> {
		const row = await Environment.query(this.transaction)
			.where({ organization_id: this.organizationId, id: environmentId })
			.forNoKeyUpdate()
			.first();
		if (row === undefined) throw notFound('Environment', environmentId);
		return row;
	}

	/**
	 * Adds this unit's organization as the first organization in the store, and notes that its first key was not shown
	 * yet. Returns false and changes nothing if the store already contains an organization.
	 */
	async becomeFirst(key: string, name: string): Promise<boolean> {
		// The lock lasts until the transaction ends. If several processes start together, only one of them adds the
		// organization.
		await this.transaction.raw('lock table organizations in exclusive mode');
		if ((await Organization.query(this.transaction).resultSize()) > 0) return false;
		const { created_at, updated_at } = this.#stamp();
		const id = this.organizationId;
		await Organization.query(this.transaction).insert({
			id,
			key,
			name,
			first_key_shown: false,
			created_at,
			updated_at,
		});
		return true;
	}

	/** Notes that the key created by the first start was shown. */
	async noteFirstKeyShown(): Promise<void> {
		await organizationQuery(this.transaction, this.organizationId).patch({ first_key_shown: true });
	}

	/** Updates this organization's fields; absent fields keep their values. */
	async updateOrganization(organization: Organization, fields: OrganizationFields): Promise<Organization> {
		if (hasValues(organization, fields)) return organization;
		const [row] = await organizationQuery(this.transaction, this.organizationId)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Organization', organization.key);
		return row as Organization;
	}

	/** Adds a project. Throws `duplicate` if its key is taken. */
	async createProject(key: string, fields: ProjectFields): Promise<Project> {
		return insertOrDuplicate('project', key, () =>
			Project.query(this.transaction)
				.insert({ ...fields, ...this.#stamp(), key })
				.returning('*'),
		);
	}

	/**
	 * Adds an environment. The caller must add its built-in objects and its key. Throws `duplicate`, or `not_found` if
	 * the project is being deleted.
	 */
	async createEnvironment(projectId: string, key: string, fields: EnvironmentFields): Promise<Environment> {
		return insertOrNotFound('Project', projectId, () =>
			insertOrDuplicate('environment', key, () =>
				Environment.query(this.transaction)
					.insert({ ...fields, ...this.#stamp(), project_id: projectId, key })
					.returning('*'),
			),
		);
	}

	/**
	 * Updates project fields; absent fields keep their values. Throws `not_found` if the project was deleted in the
	 * meantime.
	 */
	async updateProject(project: Project, fields: ProjectFields): Promise<Project> {
		if (hasValues(project, fields)) return project;
		const [row] = await projectQuery(this.transaction, this.organizationId)
			.where('projects.id', project.id)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Project', project.key);
		return row as Project;
	}

	/** Deletes a project with all its contents. Throws `not_found` if it was deleted in the meantime. */
	async removeProject(project: Project): Promise<void> {
		for (const environment of await this.environments(project.id).all()) await this.#drop(environment);
		const [removed] = await projectQuery(this.transaction, this.organizationId)
			.where('projects.id', project.id)
			.delete()
			.returning('projects.id');
		if (removed === undefined) throw notFound('Project', project.key);
	}

	/**
	 * Updates environment fields under its next revision; absent fields keep their values. Does nothing if no value
	 * differs. Throws `not_found` if the environment was deleted in the meantime.
	 */
	async updateEnvironment(
		environment: Environment,
		fields: EnvironmentFields,
	): Promise<{ readonly row: Environment; readonly revision: number }> {
		if (hasValues(environment, fields)) return { row: environment, revision: environment.revision };
		const [row] = await environmentQuery(this.transaction, this.organizationId, environment.project_id)
			.where('environments.id', environment.id)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Environment', environment.key);
		const after = row as Environment;
		const revision = await this.within(environment, async (unit) => {
			unit.record('environment', 'update', environment.key, environmentRecord(environment), environmentRecord(after));
		});
		return { row: after, revision };
	}

	/** Deletes an environment with all its contents. Throws like `removeProject`. */
	async removeEnvironment(environment: Environment): Promise<void> {
		if (!(await this.#drop(environment))) throw notFound('Environment', environment.key);
	}

	/** Deletes an environment. Returns true if it existed. */
	async #drop(environment: Environment): Promise<boolean> {
		await rememberKeys(this.transaction, environment.id, this.now);
		// Uses `returning`, because the embedded database miscounts rows when deletes cascade.
		const [removed] = await environmentQuery(this.transaction, this.organizationId, environment.project_id)
			.where('environments.id', environment.id)
			.delete()
			.returning('environments.id');
		await this.transaction.raw(`select pg_notify('regolith_revision', ?)`, [environment.id]);
		this.touched.add(environment.id);
		return removed !== undefined;
	}

	#stamp() {
		return {
			id: this.clock.newId(),
			organization_id: this.organizationId,
			created_at: this.now,
			updated_at: this.now,
		};
	}
}

/** Returns an environment for the change log, without the counters, which change with every write. */
function environmentRecord(environment: Environment): ChangedRecord {
	const { revision: _, schema_revision: __, ...record } = environment.toJSON();
	return record;
}
