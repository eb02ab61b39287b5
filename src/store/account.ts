import type { Knex } from 'knex';
import { ForeignKeyViolationError, type QueryBuilder, UniqueViolationError } from 'objection';
import type { Clock } from '../clock.js';
import { duplicate, Failure, forbidden, notFound } from '../failure.js';
import { asId } from '../wire/common.js';
import type { ChangedRecord } from './change.js';
import { whereSearched } from './filter.js';
import { type Cipher, hashSecret, newSecret } from './secret.js';
import { type AccessLevel, ApiKey, Environment, type ObjectType, Organization, Project } from './table/account.js';
import { holds, type Scope, WritingUnit } from './unit.js';

/** Who calls: the API key a request came with, and what it opens. */
export interface Caller {
	readonly key_id: string;
	readonly organization_id: string;
	/** `null` opens every project of the organization. */
	readonly project_id: string | null;
	/** `null` opens every environment of the project. */
	readonly environment_id: string | null;
	readonly object_type: ObjectType;
	readonly access_level: AccessLevel;
}

/** The columns of a new or changed project or environment; the unit adds ids and times. */
type Fields<R> = Partial<Omit<R, 'id' | 'organization_id' | 'project_id' | 'created_at' | 'updated_at' | keyof object>>;

/** A project as its creator gives it. */
export type ProjectFields = Fields<
	Pick<Project, 'name' | 'description' | 'urn_namespace' | 'settings' | 'active_policy_repo_id'>
>;

/** What can be changed of an organization. */
export type OrganizationFields = Fields<Pick<Organization, 'name' | 'settings'>>;

/** An environment as its creator gives it. */
export type EnvironmentFields = Fields<
	Pick<Environment, 'name' | 'description' | 'custom_branch_name' | 'jwks' | 'settings'>
>;

/** A key to be made. `secret` is fixed for automation; otherwise a new random one. */
export interface NewApiKey {
	readonly project_id: string | null;
	readonly environment_id: string | null;
	readonly access_level: AccessLevel;
	readonly owner_type: ApiKey['owner_type'];
	readonly name: string | null;
	readonly secret?: string | null;
}

/** What a new key shall open, by ids or keys. */
export interface KeyPlace {
	readonly project_id?: string | undefined;
	readonly environment_id?: string | undefined;
}

/** Which keys of those that a caller may see. */
export interface KeyFilter {
	readonly object_type?: ObjectType | undefined;
	/** The id or key of a project. */
	readonly proj_id?: string | undefined;
}

/** The projects and environments that some keys open. */
export interface Places {
	readonly projects: readonly Project[];
	readonly environments: readonly Environment[];
}

/** Access levels, from the one that may do nothing to the one that may do everything. */
const accessLevels: readonly AccessLevel[] = ['no_access', 'read', 'write', 'admin'];

/** What keys are of, from the one that opens least. */
const accessObjects: readonly ObjectType[] = ['env', 'project', 'org'];

/** The projects, environments and keys of one organization. INVARIANT: no statement leaves it without the organization's id. */
export class AccountUnit {
	constructor(
		readonly organizationId: string,
		protected readonly database: Knex,
		readonly clock: Clock,
		protected readonly cipher: Cipher,
	) {}

	/** This organization, where `search` is its id or in its key or name; else nothing. */
	organizations(search?: string): QueryBuilder<Organization, Organization[]> {
		const query = Organization.query(this.database).where({ id: this.organizationId });
		return asId(search ?? '') === this.organizationId ? query : whereSearched(query, ['key', 'name'], search);
	}

	/** This organization, under its id or key. Throws `not_found` for any other. */
	async organization(reference: string): Promise<Organization> {
		const [row] = await this.organizations();
		if (row === undefined || (reference !== row.key && asId(reference) !== row.id)) {
			throw notFound('Organization', reference);
		}
		return row;
	}

	/** The API keys that open no more than the caller's and have no higher access level, oldest first. */
	apiKeys(caller: Caller, { object_type, proj_id }: KeyFilter = {}): QueryBuilder<ApiKey, ApiKey[]> {
		const levels = accessLevels.slice(0, accessLevels.indexOf(caller.access_level) + 1);
		const query = ApiKey.query(this.database)
			.where({ organization_id: this.organizationId })
			.whereIn('access_level', levels)
			.orderBy('id');
		if (caller.project_id !== null) query.where('project_id', caller.project_id);
		if (caller.environment_id !== null) query.where('environment_id', caller.environment_id);
		if (object_type !== undefined) query.where({ object_type });
		if (proj_id !== undefined) {
			query.whereIn('project_id', referredIn(this.projects(), 'projects', proj_id).clearOrder().select('projects.id'));
		}
		return query;
	}

	/** The API key with this id. Throws `not_found`, or `forbidden` when it opens more than the caller's. */
	async apiKey(caller: Caller, reference: string): Promise<ApiKey> {
		const id = asId(reference);
		const organization_id = this.organizationId;
		const found = id === null ? undefined : await ApiKey.query(this.database).findOne({ id, organization_id });
		if (found === undefined) throw notFound('ApiKey', reference);
		const mine = await this.apiKeys(caller).findOne({ id: found.id });
		if (mine === undefined) throw forbidden(`this API key does not open what the key \`${reference}\` opens`);
		return mine;
	}

	/** The secret of a key of this organization. */
	secretOf(key: ApiKey): string {
		return this.cipher.decrypt(key.secret_cipher);
	}

	/** The projects and environments that keys open. */
	async placesOf(keys: readonly ApiKey[]): Promise<Places> {
		const ids = (column: 'project_id' | 'environment_id') => keys.flatMap((key) => key[column] ?? []);
		const projects = await this.projects().whereIn('projects.id', ids('project_id'));
		const environments = await Environment.query(this.database)
			.where({ organization_id: this.organizationId })
			.whereIn('id', ids('environment_id'));
		return { projects, environments };
	}

	/**
	 * The ids of what a new key of this type shall open. Throws `forbidden` when that is more than the caller's key
	 * opens, `not_found` for what it names, and for an environment's key where it should be its id.
	 */
	async placeOfKey(
		caller: Caller,
		type: ObjectType,
		{ project_id, environment_id = '' }: KeyPlace,
	): Promise<Pick<NewApiKey, 'project_id' | 'environment_id'>> {
		if (accessObjects.indexOf(type) > accessObjects.indexOf(caller.object_type)) {
			throw forbidden(`this API key cannot make one of the object type ${type}, which opens more`);
		}
		if (type === 'org') return { project_id: null, environment_id: null };
		if (type === 'project') {
			return { project_id: (await this.project(caller, project_id ?? '')).id, environment_id: null };
		}
		const environment =
			project_id === undefined
				? await this.environmentById(caller, environment_id)
				: await this.environment(caller, project_id, environment_id);
		return { project_id: environment.project_id, environment_id: environment.id };
	}

	/** The projects a caller may see, oldest first. */
	projects(caller?: Caller): QueryBuilder<Project, Project[]> {
		const query = Project.query(this.database).where({ organization_id: this.organizationId }).orderBy('id');
		return caller?.project_id ? query.where('projects.id', caller.project_id) : query;
	}

	/** The environments of a project that a caller may see, oldest first. */
	environments(projectId: string, caller?: Caller): QueryBuilder<Environment, Environment[]> {
		const query = Environment.query(this.database)
			.where({ organization_id: this.organizationId, project_id: projectId })
			.orderBy('id');
		return caller?.environment_id ? query.where('environments.id', caller.environment_id) : query;
	}

	/** The ids of a project and, where given, of one of its environments, by id or key; `null` when there is none such. */
	async place(
		project: string,
		environment: string | null,
	): Promise<{ readonly project_id: string; readonly environment_id: string | null } | null> {
		const found = first(await referredIn(this.projects(), 'projects', project), project);
		if (found === undefined) return null;
		if (environment === null) return { project_id: found.id, environment_id: null };
		const environments = await referredIn(this.environments(found.id), 'environments', environment);
		const inside = first(environments, environment);
		return inside === undefined ? null : { project_id: found.id, environment_id: inside.id };
	}

	/** The project that an id or key names. Throws `not_found`, or `forbidden` when the caller's key does not open it. */
	async project(caller: Caller, reference: string): Promise<Project> {
		const project = first(await referredIn(this.projects(), 'projects', reference), reference);
		if (project === undefined) throw notFound('Project', reference);
		if (caller.project_id !== null && caller.project_id !== project.id) {
			throw forbidden(`this API key does not open the project \`${reference}\``);
		}
		return project;
	}

	/** The environment that ids or keys name, in any mix. Throws as `project` does. */
	async environment(caller: Caller, project: string, reference: string): Promise<Environment> {
		const found = await this.#opened(caller, project, reference);
		if (found !== null) return found;
		const { id } = await this.project(caller, project);
		const environment = first(await referredIn(this.environments(id), 'environments', reference), reference);
		if (environment === undefined) throw notFound('Environment', reference);
		if (caller.environment_id !== null && caller.environment_id !== environment.id) {
			throw forbidden(`this API key does not open the environment \`${reference}\``);
		}
		return environment;
	}

	/** What `environment` finds, in one statement, where nothing is to be refused; `null` where that takes a closer look. */
	async #opened(caller: Caller, project: string, reference: string): Promise<Environment | null> {
		const query = Environment.query(this.database)
			.join('projects', 'projects.id', 'environments.project_id')
			.where('environments.organization_id', this.organizationId)
			.select('environments.*');
		const rows = await referredIn(referredIn(query, 'projects', project), 'environments', reference);
		const [row] = rows;
		if (row === undefined || rows.length > 1 || (asId(project) ?? row.project_id) !== row.project_id) return null;
		return opens(caller, row) ? row : null;
	}

	/** The environment with this id. Throws `not_found`, or `forbidden` when the caller's key does not open it. */
	async environmentById(caller: Caller, reference: string): Promise<Environment> {
		const id = asId(reference);
		const organization_id = this.organizationId;
		const found = id === null ? undefined : await Environment.query(this.database).findOne({ id, organization_id });
		if (found === undefined) throw notFound('Environment', reference);
		if (!opens(caller, found)) throw forbidden(`this API key does not open the environment \`${reference}\``);
		return found;
	}

	/** The newest key that an environment's decision points are meant to use, with its secret. */
	async environmentKey(environmentId: string): Promise<{ readonly row: ApiKey; readonly secret: string }> {
		const row = await ApiKey.query(this.database)
			.where({ organization_id: this.organizationId, environment_id: environmentId, owner_type: 'pdp_config' })
			.orderBy('id', 'desc')
			.first();
		if (row === undefined) throw notFound('ApiKey', environmentId);
		return { row, secret: this.cipher.decrypt(row.secret_cipher) };
	}
}

/** Writes an organization's projects, environments and keys inside one transaction. */
export class WritingAccountUnit extends AccountUnit {
	/** The environments whose decision points have something to hear of when this commits. */
	readonly touched = new Set<string>();

	constructor(
		organizationId: string,
		private readonly transaction: Knex.Transaction,
		clock: Clock,
		cipher: Cipher,
		/** The API key that writes; `null` for the server itself. */
		readonly actorId: string | null,
		/** The instant every row is stamped with. */
		readonly now: Date,
	) {
		super(organizationId, transaction, clock, cipher);
	}

	/** Writes inside an environment of this organization, in the same transaction. Returns its revision after `work`. */
	async within(environment: Environment, work: (unit: WritingUnit) => Promise<unknown>): Promise<number> {
		const unit = new WritingUnit(scopeOf(environment), this.transaction, this.clock, this.actorId, this.now);
		await work(unit);
		this.touched.add(environment.id);
		return unit.finish();
	}

	/** Adds this unit's organization as the store's first; `false`, and nothing is added, when there is one. */
	async becomeFirst(key: string, name: string): Promise<boolean> {
		// Held to the end of the transaction: of several processes that start together, one makes it.
		await this.transaction.raw('lock table organizations in exclusive mode');
		if ((await Organization.query(this.transaction).resultSize()) > 0) return false;
		const { created_at, updated_at } = this.#stamp();
		await Organization.query(this.transaction).insert({ id: this.organizationId, key, name, created_at, updated_at });
		return true;
	}

	/** Changes fields of this organization; absent ones stay. */
	async updateOrganization(organization: Organization, fields: OrganizationFields): Promise<Organization> {
		if (holds(organization, fields)) return organization;
		const [row] = await this.organizations()
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Organization', organization.key);
		return row as Organization;
	}

	/** Adds a project. Throws `duplicate` when its key is taken. */
	async createProject(key: string, fields: ProjectFields): Promise<Project> {
		return unique('project', key, () =>
			Project.query(this.transaction)
				.insert({ ...fields, ...this.#stamp(), key })
				.returning('*'),
		);
	}

	/**
	 * Adds an environment; its built-in objects and key are the caller's to add. Throws `duplicate`, or `not_found` when
	 * the project is being deleted.
	 */
	async createEnvironment(projectId: string, key: string, fields: EnvironmentFields): Promise<Environment> {
		try {
			return await unique('environment', key, () =>
				Environment.query(this.transaction)
					.insert({ ...fields, ...this.#stamp(), project_id: projectId, key })
					.returning('*'),
			);
		} catch (error) {
			if (error instanceof ForeignKeyViolationError) throw notFound('Project', projectId);
			throw error;
		}
	}

	/** Changes fields of a project; absent ones stay. Throws `not_found` when it was deleted meanwhile. */
	async updateProject(project: Project, fields: ProjectFields): Promise<Project> {
		if (holds(project, fields)) return project;
		const [row] = await this.projects()
			.where('projects.id', project.id)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Project', project.key);
		return row as Project;
	}

	/** Deletes a project with everything in it. Throws `not_found` when it was deleted meanwhile. */
	async removeProject(project: Project): Promise<void> {
		for (const environment of await this.environments(project.id)) await this.#drop(environment);
		const [removed] = await this.projects().where('projects.id', project.id).delete().returning('projects.id');
		if (removed === undefined) throw notFound('Project', project.key);
	}

	/**
	 * Changes fields of an environment under its next revision; absent ones stay. Fields that already are so change
	 * nothing. Throws `not_found` when it was deleted meanwhile.
	 */
	async updateEnvironment(
		environment: Environment,
		fields: EnvironmentFields,
	): Promise<{ readonly row: Environment; readonly revision: number }> {
		if (holds(environment, fields)) return { row: environment, revision: environment.revision };
		const [row] = await this.environments(environment.project_id)
			.where('environments.id', environment.id)
			.patch({ ...fields, updated_at: this.now })
			.returning('*');
		if (row === undefined) throw notFound('Environment', environment.key);
		const after = row as Environment;
		const revision = await this.within(environment, async (unit) => {
			unit.record('environment', 'update', environment.key, settingsOf(environment), settingsOf(after));
		});
		return { row: after, revision };
	}

	/** Deletes an environment with everything in it (spec: Deleting an environment). Throws as `removeProject` does. */
	async removeEnvironment(environment: Environment): Promise<void> {
		if (!(await this.#drop(environment))) throw notFound('Environment', environment.key);
	}

	/** Adds an API key and returns it with its secret, which is not kept in the clear. */
	async createKey(key: NewApiKey): Promise<{ readonly row: ApiKey; readonly secret: string }> {
		const secret = key.secret ?? newSecret();
		const row = await unique('API key', key.name ?? 'unnamed', () =>
			ApiKey.query(this.transaction)
				.insert({
					id: this.clock.newId(),
					organization_id: this.organizationId,
					project_id: key.project_id,
					environment_id: key.environment_id,
					object_type: key.environment_id ? 'env' : key.project_id ? 'project' : 'org',
					access_level: key.access_level,
					owner_type: key.owner_type,
					name: key.name,
					secret_hash: hashSecret(secret),
					secret_cipher: this.cipher.encrypt(secret),
					created_at: this.now,
					last_used_at: null,
				})
				.returning('*'),
		);
		return { row, secret };
	}

	/** Gives a key a new secret, and returns both. Throws `not_found` when it was deleted meanwhile. */
	async rotateKey(key: ApiKey): Promise<{ readonly row: ApiKey; readonly secret: string }> {
		const secret = newSecret();
		const [row] = await ApiKey.query(this.transaction)
			.where({ organization_id: this.organizationId, id: key.id })
			.patch({ secret_hash: hashSecret(secret), secret_cipher: this.cipher.encrypt(secret) })
			.returning('*');
		if (row === undefined) throw notFound('ApiKey', key.id);
		return { row: row as ApiKey, secret };
	}

	/** Deletes a key. Throws `invalid` for the organization's last admin key, `not_found` when it is gone already. */
	async removeKey(key: ApiKey): Promise<void> {
		// Held to the end of the transaction: two that delete the last two keys would otherwise each see the other's.
		await this.organizations().forNoKeyUpdate();
		const keys = () => ApiKey.query(this.transaction).where({ organization_id: this.organizationId });
		const [removed] = await keys().where({ id: key.id }).delete().returning('id');
		if (removed === undefined) throw notFound('ApiKey', key.id);
		const left = await keys().where({ object_type: 'org', access_level: 'admin' }).resultSize();
		if (left === 0 && key.object_type === 'org' && key.access_level === 'admin') {
			throw new Failure('invalid', `\`${key.id}\` is the last admin key of the organization: make another one first`);
		}
	}

	/** Whether the environment was there to be deleted. */
	async #drop(environment: Environment): Promise<boolean> {
		// Asked to return what went: the embedded database miscounts what cascades.
		const [removed] = await this.environments(environment.project_id)
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

/** The scope an environment's row stands for. */
export function scopeOf(environment: Environment): Scope {
	return {
		organization_id: environment.organization_id,
		project_id: environment.project_id,
		environment_id: environment.id,
	};
}

/** An environment as its change log keeps it: without the counters that every change moves. */
function settingsOf(environment: Environment): ChangedRecord {
	const { revision: _, schema_revision: __, ...record } = environment.toJSON();
	return record;
}

/** Whether a caller's key opens an environment of its organization. */
export function opens(caller: Caller, environment: Environment): boolean {
	return (
		(caller.project_id === null || caller.project_id === environment.project_id) &&
		(caller.environment_id === null || caller.environment_id === environment.id)
	);
}

type Named = Project | Environment;

function referredIn<M extends Named>(
	query: QueryBuilder<M, M[]>,
	table: 'projects' | 'environments',
	reference: string,
): QueryBuilder<M, M[]> {
	const id = asId(reference);
	return query.where((either) => {
		either.where(`${table}.key`, reference);
		if (id !== null) either.orWhere(`${table}.id`, id);
	});
}

function first<R extends { readonly id: string }>(rows: readonly R[], reference: string): R | undefined {
	const id = asId(reference);
	return rows.find((row) => row.id === id) ?? rows[0];
}

async function unique<R>(kind: string, key: string, insert: () => PromiseLike<R>): Promise<R> {
	try {
		return await insert();
	} catch (error) {
		if (error instanceof UniqueViolationError) throw duplicate(kind, key);
		throw error;
	}
}
