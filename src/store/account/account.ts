import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { forbidden, notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import { Environment, type Organization, type Project } from '../table/account.js';
import { whereSearched } from '../unit/filter.js';
import type { Scope } from '../unit/reading-unit.js';
import { referredIn } from '../unit/reference.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import { environmentQuery, organizationQuery, projectQuery } from './account-queries.js';
import { ApiKeys } from './api-keys.js';
import { type Caller, opens } from './caller.js';
import type { Cipher } from './secret.js';
import { type OrganizationCounts, organizationCounts } from './statistics.js';

/**
 * The projects, environments and keys of one organization. INVARIANT: no statement leaves it without the
 * organization's id.
 */
export class AccountUnit {
	constructor(
		readonly organizationId: string,
		protected readonly database: Knex,
		readonly clock: Clock,
		protected readonly cipher: Cipher,
	) {}

	/** The organization's API keys. */
	get keys(): ApiKeys {
		return new ApiKeys(this, this.database, this.cipher);
	}

	/** The lineage of the database, without any check; empty where none has begun. */
	async lineageInForce(): Promise<string> {
		const row: { readonly id: string } | undefined = await this.database('lineages').whereNull('ended_at').first('id');
		return row?.id ?? '';
	}

	/** Counts what a caller's key opens of the organization. */
	counts(caller: Caller): Promise<OrganizationCounts> {
		return organizationCounts(this.database, { ...caller, organization_id: this.organizationId });
	}

	/** This organization, if `search` is its id or part of its key or name; else nothing. */
	organizations(search?: string): RowQuery<Organization> {
		const query = organizationQuery(this.database, this.organizationId);
		return rowQuery(asId(search ?? '') === this.organizationId ? query : whereSearched(query, ['key', 'name'], search));
	}

	/** This organization, by its id or key. Throws `not_found` for any other. */
	async organization(reference: string): Promise<Organization> {
		const [row] = await this.organizations();
		if (row === undefined || (reference !== row.key && asId(reference) !== row.id)) {
			throw notFound('Organization', reference);
		}
		return row;
	}

	/** Whether the key that the first start made has been shown. */
	async isFirstKeyShown(): Promise<boolean> {
		const [row] = await organizationQuery(this.database, this.organizationId);
		return row?.first_key_shown ?? true;
	}

	/** The projects a caller may see, oldest first. */
	projects(caller?: Caller): RowQuery<Project> {
		const query = projectQuery(this.database, this.organizationId);
		return rowQuery(caller?.project_id ? query.where('projects.id', caller.project_id) : query);
	}

	/** The environments of a project that a caller may see, oldest first. */
	environments(projectId: string, caller?: Caller): RowQuery<Environment> {
		const query = environmentQuery(this.database, this.organizationId, projectId);
		return rowQuery(caller?.environment_id ? query.where('environments.id', caller.environment_id) : query);
	}

	/**
	 * The oldest environment that a caller's key opens, in this project where one is given; `null` where there is none.
	 * Throws as `project` does.
	 */
	async oldestEnvironment(caller: Caller, project?: string): Promise<Environment | null> {
		const query = Environment.query(this.database).where({ organization_id: this.organizationId }).orderBy('id');
		const inside = project === undefined ? caller.project_id : (await this.project(caller, project)).id;
		if (inside !== null) query.where({ project_id: inside });
		if (caller.environment_id !== null) query.where({ id: caller.environment_id });
		return (await query.first()) ?? null;
	}

	/** The ids of a project and, where given, of one of its environments, by id or key; `null` when there is none such. */
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

	/** The project that an id or key names. Throws `not_found`, or `forbidden` when the caller's key does not open it. */
	async project(caller: Caller, reference: string): Promise<Project> {
		const project = await this.#findProject(reference);
		if (project === undefined) throw notFound('Project', reference);
		if (caller.project_id !== null && caller.project_id !== project.id) {
			throw forbidden(`this API key does not open the project \`${reference}\``);
		}
		return project;
	}

	/** The environment that ids or keys name, in any mix. Throws as `project` does. */
	async environment(caller: Caller, project: string, reference: string): Promise<Environment> {
		const found = await this.#opened(caller, project, reference);
		if (found !== null) return requireInSession(caller, found);
		const { id } = await this.project(caller, project);
		const environment = await this.#findEnvironment(id, reference);
		if (environment === undefined) throw notFound('Environment', reference);
		if (caller.environment_id !== null && caller.environment_id !== environment.id) {
			throw forbidden(`this API key does not open the environment \`${reference}\``);
		}
		return requireInSession(caller, environment);
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
	 * Finds what `environment` does, in one statement; `null` where the error, or which of several is meant, takes a
	 * closer look.
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

	/** The environment with this id. Throws `not_found`, or `forbidden` when the caller's key does not open it. */
	async environmentById(caller: Caller, reference: string): Promise<Environment> {
		const id = asId(reference);
		const organization_id = this.organizationId;
		const found = id === null ? undefined : await Environment.query(this.database).findOne({ id, organization_id });
		if (found === undefined) throw notFound('Environment', reference);
		if (!opens(caller, found)) throw forbidden(`this API key does not open the environment \`${reference}\``);
		return requireInSession(caller, found);
	}
}

/** The environment, unless the caller's session of the console is of another one. Throws `forbidden`. */
function requireInSession({ session_environment_id }: Caller, environment: Environment): Environment {
	if (session_environment_id === undefined || session_environment_id === environment.id) return environment;
	throw forbidden('this session is of another environment');
}

/** The scope of an environment's row. */
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
