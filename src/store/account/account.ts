import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { forbidden, notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import { whereSearched } from '../query/filter.js';
import { referredIn } from '../query/reference.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { Environment, type Organization, type Project } from '../table/account.js';
import type { Scope } from '../unit/reading-unit.js';
import { environmentQuery, organizationQuery, projectQuery } from './account-queries.js';
import { ApiKeys } from './api-keys.js';
import { type Caller, opens, requireInSession } from './caller.js';
import type { Cipher } from './secret.js';
import { type OrganizationCounts, organizationCounts } from './statistics.js';

/** An organization's projects, environments and keys. INVARIANT: every statement is bound to the organization's id. */
export class AccountUnit {
	constructor(
		readonly organizationId: string,
		protected readonly database: Knex,
		readonly clock: Clock,
		protected readonly cipher: Cipher,
	) {}

	get keys(): ApiKeys {
		return new ApiKeys(this, this.database, this.cipher);
	}

	/**
	 * Returns the current lineage's id, or an empty string if no lineage has begun. The lineage may have begun in a
	 * different database.
	 */
	async lineageInForce(): Promise<string> {
		const row: { readonly id: string } | undefined = await this.database('lineages').whereNull('ended_at').first('id');
		return row?.id ?? '';
	}

	/** Counts the organization's objects accessible to a caller. */
	counts(caller: Caller): Promise<OrganizationCounts> {
		return organizationCounts(this.database, { ...caller, organization_id: this.organizationId });
	}

	/**
	 * Returns this organization if `search` matches its id, key or name, and no rows otherwise. The key and the name
	 * match if they contain `search`.
	 */
	organizations(search?: string): RowQuery<Organization> {
		const query = organizationQuery(this.database, this.organizationId);
		return rowQuery(asId(search ?? '') === this.organizationId ? query : whereSearched(query, ['key', 'name'], search));
	}

	/** Returns this organization by id or key. Throws `not_found` if the reference is to a different organization. */
	async organization(reference: string): Promise<Organization> {
		const [row] = await this.organizations().all();
		if (row === undefined || (reference !== row.key && asId(reference) !== row.id)) {
			throw notFound('Organization', reference);
		}
		return row;
	}

	/** Returns true if the key created by the first start was shown. */
	async isFirstKeyShown(): Promise<boolean> {
		const [row] = await organizationQuery(this.database, this.organizationId);
		return row?.first_key_shown ?? true;
	}

	/** Returns the projects visible to a caller, or all projects if no caller is passed, oldest first. */
	projects(caller?: Caller): RowQuery<Project> {
		const query = projectQuery(this.database, this.organizationId);
		return rowQuery(caller?.project_id ? query.where('projects.id', caller.project_id) : query);
	}

	/**
	 * Returns a project's environments visible to a caller, or all its environments if no caller is passed, oldest first.
	 */
	environments(projectId: string, caller?: Caller): RowQuery<Environment> {
		const query = environmentQuery(this.database, this.organizationId, projectId);
		return rowQuery(caller?.environment_id ? query.where('environments.id', caller.environment_id) : query);
	}

	/**
	 * Returns the oldest environment accessible to a caller, or `null` if there is none. If `project` is passed,
	 * searches only in that project. Throws like `project`.
	 */
	async oldestEnvironment(caller: Caller, project?: string): Promise<Environment | null> {
		const query = Environment.query(this.database).where({ organization_id: this.organizationId }).orderBy('id');
		const inside = project === undefined ? caller.project_id : (await this.project(caller, project)).id;
		if (inside !== null) query.where({ project_id: inside });
		if (caller.environment_id !== null) query.where({ id: caller.environment_id });
		return (await query.first()) ?? null;
	}

	/**
	 * Finds a project, and an environment in it if one is passed, each by id or key. Returns their ids, or `null` if the
	 * project or the environment does not exist.
	 */
	async findPlace(
		project: string,
		environment: string | null,
	): Promise<{ readonly project_id: string; readonly environment_id: string | null } | null> {
		const found = await this.#findProject(project);
		if (found === undefined) return null;
		if (environment === null) return { project_id: found.id, environment_id: null };
		const inside = await this.#findEnvironment(found.id, environment);
		return inside === undefined ? null : { project_id: found.id, environment_id: inside.id };
	}

	/**
	 * Returns the project with this id or key. Throws `not_found`, or `forbidden` if the caller's key grants no access.
	 */
	async project(caller: Caller, reference: string): Promise<Project> {
		const project = await this.#findProject(reference);
		if (project === undefined) throw notFound('Project', reference);
		if (caller.project_id !== null && caller.project_id !== project.id) {
			throw forbidden(`this API key has no access to the project \`${reference}\``);
		}
		return project;
	}

	/** Returns an environment. The project and the environment are each given by id or key. Throws like `project`. */
	async environment(caller: Caller, project: string, reference: string): Promise<Environment> {
		const opened = await this.#opened(caller, project, reference);
		const environment = opened ?? (await this.#findEnvironment((await this.project(caller, project)).id, reference));
		return requireOpened(caller, environment, reference);
	}

	async #findProject(reference: string): Promise<Project | undefined> {
		const projects = projectQuery(this.database, this.organizationId);
		return first(await referredIn(projects, 'projects', reference), reference);
	}

	async #findEnvironment(projectId: string, reference: string): Promise<Environment | undefined> {
		const environments = environmentQuery(this.database, this.organizationId, projectId);
		return first(await referredIn(environments, 'environments', reference), reference);
	}

	/**
	 * Like `environment`, but uses a single statement. Returns `null` if the environment was not found or is not
	 * accessible, or if the reference is ambiguous. Project and environment must then be looked up separately.
	 */
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

	/**
	 * Returns the environment with this id. Throws `not_found`, or `forbidden` if the caller's key grants no access.
	 */
	async environmentById(caller: Caller, reference: string): Promise<Environment> {
		const id = asId(reference);
		const organization_id = this.organizationId;
		const found = id === null ? undefined : await Environment.query(this.database).findOne({ id, organization_id });
		return requireOpened(caller, found, reference);
	}
}

/** Returns the environment. Throws `not_found`, or `forbidden` if the caller's key or session grants no access. */
function requireOpened(caller: Caller, environment: Environment | undefined, reference: string): Environment {
	if (environment === undefined) throw notFound('Environment', reference);
	if (!opens(caller, environment)) throw forbidden(`this API key has no access to the environment \`${reference}\``);
	requireInSession(caller, 'environment', environment.id);
	return environment;
}

export function environmentScope(environment: Environment): Scope {
	return {
		organization_id: environment.organization_id,
		project_id: environment.project_id,
		environment_id: environment.id,
	};
}

function first<R extends { readonly id: string }>(rows: readonly R[], reference: string): R | undefined {
	const id = asId(reference);
	return rows.find((row) => row.id === id) ?? rows[0];
}
