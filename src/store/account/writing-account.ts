import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { notFound } from '../../failure.js';
import { Environment, Organization, Project } from '../table/account.js';
import type { ChangedRecord } from '../unit/change.js';
import { hasValues } from '../unit/change-record.js';
import { insertOrDuplicate } from '../unit/insert-or-duplicate.js';
import { insertOrNotFound } from '../unit/insert-or-not-found.js';
import { lockEnvironment } from '../unit/lock-environment.js';
import { type KeyHolder, LostStanding } from '../unit/standing.js';
import { WritingUnit } from '../unit/writing-unit.js';
import { AccountUnit, environmentScope } from './account.js';
import { environmentQuery, organizationQuery, projectQuery } from './account-queries.js';
import { CopyTasks } from './copy-task.js';
import { rememberKeys } from './deleted-environments.js';
import type { Cipher } from './secret.js';
import { WritingApiKeys } from './writing-api-keys.js';

/** The columns of a new or changed project or environment; the unit adds ids and times. */
type Fields<R> = Partial<Omit<R, 'id' | 'organization_id' | 'project_id' | 'created_at' | 'updated_at' | keyof object>>;

/** A project as its creator gives it. */
export type ProjectFields = Fields<
	Pick<Project, 'name' | 'description' | 'urn_namespace' | 'settings' | 'active_policy_repo_id'>
>;

/** The fields of an organization that can be changed. */
export type OrganizationFields = Fields<Pick<Organization, 'name' | 'settings'>>;

/** An environment as its creator gives it. */
export type EnvironmentFields = Fields<
	Pick<Environment, 'name' | 'description' | 'custom_branch_name' | 'jwks' | 'settings'>
>;

/** Who writes an organization's objects. */
export interface AccountWriter {
	/** The API key that writes; `null` for the server itself. */
	readonly id: string | null;
	/** A caller whose standing is to be checked within environments, because the transaction has not; else `null`. */
	readonly unchecked: KeyHolder | null;
}

/** Writes an organization's projects, environments and keys inside one transaction. */
export class WritingAccountUnit extends AccountUnit {
	/** The environments whose decision points are to be notified when this commits. */
	readonly touched = new Set<string>();
	/** The API keys whose waiting requests end when this commits. */
	readonly ended = new Set<string>();

	constructor(
		organizationId: string,
		private readonly transaction: Knex.Transaction,
		clock: Clock,
		cipher: Cipher,
		private readonly writer: AccountWriter,
		/** The instant every row is stamped with. */
		readonly now: Date,
		/** The lineage of the revisions that this unit makes. */
		readonly lineage: string,
	) {
		super(organizationId, transaction, clock, cipher);
	}

	/** The organization's API keys. */
	override get keys(): WritingApiKeys {
		return new WritingApiKeys(this, this.transaction, this.cipher);
	}

	/**
	 * Writes inside an environment of this organization, in the same transaction. Returns its revision after `work`.
	 * Throws `not_found`, and `LostStanding` if the writer is unchecked.
	 */
	async within(environment: Environment, work: (unit: WritingUnit) => Promise<unknown>): Promise<number> {
		const { transaction, clock, cipher, writer, now } = this;
		const { stands } = await lockEnvironment(transaction, environment.id, writer.unchecked);
		if (!stands) throw new LostStanding();
		const unit = new WritingUnit(environmentScope(environment), transaction, clock, cipher, writer.id, now);
		await work(unit);
		this.touched.add(environment.id);
		return unit.finish();
	}

	/** The copies made from an environment, in the same transaction. */
	copyTasks(environmentId: string): CopyTasks {
		return new CopyTasks(this.transaction, environmentId);
	}

	/**
	 * Locks the environment with this id until this commits: its other writers wait. Throws `not_found` when it was
	 * deleted meanwhile.
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
	 * Adds this unit's organization as the first of the store. Its first key is not shown yet. Returns `false` and adds
	 * nothing when the store has an organization.
	 */
	async becomeFirst(key: string, name: string): Promise<boolean> {
		// Held to the end of the transaction: of several processes that start together, only one adds it.
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

	/** Notes that the key that the first start made has been shown. */
	async noteFirstKeyShown(): Promise<void> {
		await organizationQuery(this.transaction, this.organizationId).patch({ first_key_shown: true });
	}

	/** Changes fields of this organization; absent ones stay. */
	async updateOrganization(organization: Organization, fields: OrganizationFields): Promise<Organization> {
		if (hasValues(organization, fields)) return organization;
		const [row] = await organizationQuery(this.transaction, this.organizationId)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Organization', organization.key);
		return row as Organization;
	}

	/** Adds a project. Throws `duplicate` when its key is taken. */
	async createProject(key: string, fields: ProjectFields): Promise<Project> {
		return insertOrDuplicate('project', key, () =>
			Project.query(this.transaction)
				.insert({ ...fields, ...this.#stamp(), key })
				.returning('*'),
		);
	}

	/**
	 * Adds an environment. Its built-in objects and its key are for the caller to add. Throws `duplicate`, or
	 * `not_found` when the project is being deleted.
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

	/** Changes fields of a project; absent ones stay. Throws `not_found` when it was deleted meanwhile. */
	async updateProject(project: Project, fields: ProjectFields): Promise<Project> {
		if (hasValues(project, fields)) return project;
		const [row] = await projectQuery(this.transaction, this.organizationId)
			.where('projects.id', project.id)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Project', project.key);
		return row as Project;
	}

	/** Deletes a project with everything in it. Throws `not_found` when it was deleted meanwhile. */
	async removeProject(project: Project): Promise<void> {
		for (const environment of await this.environments(project.id)) await this.#drop(environment);
		const [removed] = await projectQuery(this.transaction, this.organizationId)
			.where('projects.id', project.id)
			.delete()
			.returning('projects.id');
		if (removed === undefined) throw notFound('Project', project.key);
	}

	/**
	 * Changes fields of an environment under its next revision; absent ones stay, and nothing happens where all have
	 * these values already. Throws `not_found` when it was deleted meanwhile.
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

	/** Deletes an environment with everything in it (spec: Deleting an environment). Throws as `removeProject` does. */
	async removeEnvironment(environment: Environment): Promise<void> {
		if (!(await this.#drop(environment))) throw notFound('Environment', environment.key);
	}

	/** Deletes an environment and says whether it was there. */
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

/** An environment as its change log keeps it: without the counters that change with every write. */
function environmentRecord(environment: Environment): ChangedRecord {
	const { revision: _, schema_revision: __, ...record } = environment.toJSON();
	return record;
}
