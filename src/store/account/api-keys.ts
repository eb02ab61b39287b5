import type { Knex } from 'knex';
import type { QueryBuilder } from 'objection';
import { forbidden, notFound } from '../../failure.js';
import { asId } from '../../wire/common.js';
import { referredIn } from '../query/reference.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { type AccessLevel, ApiKey, Environment, type ObjectType, type Project } from '../table/account.js';
import { organizationQuery, projectQuery } from './account-queries.js';
import { type Caller, requireConfirmation, requireInSession } from './caller.js';
import type { Cipher } from './secret.js';

/** Project and environment for a new key, each by id or key. */
export interface KeyPlace {
	readonly project_id?: string | undefined;
	readonly environment_id?: string | undefined;
}

/** Filter for the keys visible to a caller. */
export interface KeyFilter {
	readonly object_type?: ObjectType | undefined;
	/** Project id or key. */
	readonly proj_id?: string | undefined;
}

/** Projects and environments accessible with keys. */
export interface OpenedPlaces {
	readonly projects: readonly Project[];
	readonly environments: readonly Environment[];
}

/** Access levels, from lowest to highest. */
const accessLevels: readonly AccessLevel[] = ['no_access', 'read', 'write', 'admin'];

/** Object types for keys, from narrowest to widest. */
const accessObjects: readonly ObjectType[] = ['env', 'project', 'org'];

/** Organization lookups used by `ApiKeys`. */
export interface KeyOrganization {
	readonly organizationId: string;
	project(caller: Caller, reference: string): Promise<Project>;
	environment(caller: Caller, project: string, reference: string): Promise<Environment>;
	environmentById(caller: Caller, reference: string): Promise<Environment>;
}

/** An organization's API keys. INVARIANT: every statement is bound to the organization's id. */
export class ApiKeys {
	constructor(
		private readonly organization: KeyOrganization,
		protected readonly database: Knex,
		protected readonly cipher: Cipher,
	) {}

	/**
	 * Returns the API keys that grant no more access than the caller's key, oldest first. For a console session,
	 * excludes keys for other environments.
	 */
	openedBy(caller: Caller, filter: KeyFilter): RowQuery<ApiKey> {
		return rowQuery(this.#openedBy(caller, filter));
	}

	#openedBy(caller: Caller, { object_type, proj_id }: KeyFilter): QueryBuilder<ApiKey, ApiKey[]> {
		const levels = accessLevels.slice(0, accessLevels.indexOf(caller.access_level) + 1);
		const query = ApiKey.query(this.database)
			.where({ organization_id: this.organization.organizationId })
			.whereIn('access_level', levels)
			.orderBy('id');
		if (caller.project_id !== null) query.where('project_id', caller.project_id);
		if (caller.environment_id !== null) query.where('environment_id', caller.environment_id);
		const { session_environment_id: environment_id } = caller;
		if (environment_id !== undefined)
			query.where((either) => either.whereNull('environment_id').orWhere({ environment_id }));
		if (object_type !== undefined) query.where({ object_type });
		if (proj_id !== undefined) {
			const projects = projectQuery(this.database, this.organization.organizationId);
			query.whereIn('project_id', referredIn(projects, 'projects', proj_id).clearOrder().select('projects.id'));
		}
		return query;
	}

	/**
	 * Returns the API key with this id. Throws `not_found`, or `forbidden` if it grants more access than the caller's
	 * key.
	 */
	async find(caller: Caller, reference: string): Promise<ApiKey> {
		const id = asId(reference);
		const organization_id = this.organization.organizationId;
		const found = id === null ? undefined : await ApiKey.query(this.database).findOne({ id, organization_id });
		if (found === undefined) throw notFound('ApiKey', reference);
		const mine = await this.#openedBy(caller, {}).findOne({ id: found.id });
		if (mine === undefined) throw forbidden(`this API key has no access to the scope of the key \`${reference}\``);
		return mine;
	}

	/**
	 * Rejects console sessions for keys in other environments. Also rejects them for project and organization keys,
	 * unless the request contains the project's or organization's key as a confirmation. Throws `forbidden`.
	 */
	async requireInSession(caller: Caller, place: Pick<ApiKey, 'project_id' | 'environment_id'>): Promise<void> {
		const { project_id, environment_id } = place;
		if (caller.session_environment_id === undefined) return;
		if (environment_id !== null) return requireInSession(caller, 'key', environment_id);
		if (project_id !== null) {
			const { key } = await this.organization.project(caller, project_id);
			return requireConfirmation(caller, 'project', key);
		}
		const [organization] = await organizationQuery(this.database, this.organization.organizationId);
		requireConfirmation(caller, 'organization', organization?.key ?? '');
	}

	secret(key: ApiKey): string {
		return this.cipher.decrypt(key.secret_cipher);
	}

	/** Returns the projects and environments accessible with these keys. */
	async openedPlaces(keys: readonly ApiKey[]): Promise<OpenedPlaces> {
		const ids = (column: 'project_id' | 'environment_id') => keys.flatMap((key) => key[column] ?? []);
		const { organizationId: organization_id } = this.organization;
		const projects = await projectQuery(this.database, organization_id).whereIn('projects.id', ids('project_id'));
		const environments = await Environment.query(this.database)
			.where({ organization_id })
			.whereIn('id', ids('environment_id'));
		return { projects, environments };
	}

	/**
	 * Returns the project and environment ids for a new key of this type. Throws `forbidden` if the new key would grant
	 * more access than the caller's key. Throws `not_found` if the project or environment does not exist. Without a
	 * project, the environment must be given by its id.
	 */
	async placeFor(
		caller: Caller,
		type: ObjectType,
		{ project_id, environment_id = '' }: KeyPlace,
	): Promise<Pick<ApiKey, 'project_id' | 'environment_id'>> {
		if (accessObjects.indexOf(type) > accessObjects.indexOf(caller.object_type)) {
			throw forbidden(`this API key cannot create a key with the object type ${type}, which has a larger scope`);
		}
		if (type === 'org') return { project_id: null, environment_id: null };
		if (type === 'project') {
			return { project_id: (await this.organization.project(caller, project_id ?? '')).id, environment_id: null };
		}
		const environment =
			project_id === undefined
				? await this.organization.environmentById(caller, environment_id)
				: await this.organization.environment(caller, project_id, environment_id);
		return { project_id: environment.project_id, environment_id: environment.id };
	}

	/**
	 * Returns an environment's PDP configs (its keys for decision points), oldest first. If `id` is passed, returns only
	 * the PDP config with this id.
	 */
	pdpConfigs(environmentId: string, id?: string): RowQuery<ApiKey> {
		const query = this.#pdpConfigs(environmentId);
		return rowQuery(id === undefined ? query : query.where({ id }));
	}

	/** Returns an environment's PDP config with this id, or `undefined` if there is none. */
	async findPdpConfig(environmentId: string, id: string): Promise<ApiKey | undefined> {
		return this.#pdpConfigs(environmentId).findOne({ id });
	}

	#pdpConfigs(environmentId: string): QueryBuilder<ApiKey, ApiKey[]> {
		return ApiKey.query(this.database)
			.where({
				organization_id: this.organization.organizationId,
				environment_id: environmentId,
				owner_type: 'pdp_config',
			})
			.orderBy('id');
	}

	/** Returns the newest decision point key in an environment, with its secret. Throws `not_found`. */
	async environmentKey(environmentId: string): Promise<{ readonly row: ApiKey; readonly secret: string }> {
		const row = await this.findEnvironmentKey(environmentId);
		if (row === null) throw notFound('ApiKey', environmentId);
		return { row, secret: this.secret(row) };
	}

	/** Returns the newest decision point key in an environment, or `null` if there is none. */
	async findEnvironmentKey(environmentId: string): Promise<ApiKey | null> {
		return (await this.#pdpConfigs(environmentId).clearOrder().orderBy('id', 'desc').first()) ?? null;
	}

	/**
	 * Returns the key with the access level `admin` and the widest scope, or `null` if there is none. Of several keys, the
	 * oldest.
	 */
	async widestAdmin(): Promise<ApiKey | null> {
		const { organizationId: organization_id } = this.organization;
		const found = await ApiKey.query(this.database)
			.where({ organization_id, access_level: 'admin' })
			.orderByRaw('environment_id is not null, project_id is not null, id')
			.first();
		return found ?? null;
	}
}
