import type { Knex } from 'knex';
import { asId } from '../../wire/common.js';
import { Environment } from '../table/account.js';
import { type Caller, opens } from './caller.js';
import type { KeyUses } from './key-uses.js';
import { hashSecret, sameHash } from './secret.js';

/** A request's API key and path. */
export interface AccessRequest {
	readonly secret: string;
	/** Ids or keys. */
	readonly project: string;
	readonly environment: string;
}

/** A caller, and the environment accessible with the caller's key. */
export interface EnvironmentAccess {
	readonly caller: Caller;
	readonly environment: Environment;
}

type Row = Readonly<Record<string, unknown>> & {
	readonly caller: Omit<Caller, 'secret_hash'>;
	readonly secret_hash: Uint8Array;
	readonly last_used_at: Date | null;
	readonly project_id: string;
};

/**
 * Finds the caller and the environment in a single statement, which is enough for most requests. Returns `null` if the
 * key is unknown, if the environment was not found or is not accessible, or if the reference is ambiguous. Key, project
 * and environment must then be looked up separately. Records that the key was used.
 */
export async function findAccess(
	database: Knex,
	uses: KeyUses,
	{ secret, project, environment }: AccessRequest,
): Promise<EnvironmentAccess | null> {
	const hash = hashSecret(secret);
	const ids = { project_id: asId(project), environment_id: asId(environment) };
	const { rows } = await database
		.raw<{ readonly rows: readonly Row[] }>(statement, { hash, project, environment, ...ids })
		.options({ name: 'entrance' });
	const [row] = rows;
	if (row === undefined || rows.length > 1) return null;
	const { caller: key, secret_hash, last_used_at, ...columns } = row;
	// A UUID can be the id of one project and the key of another project. The separate lookup prefers the id.
	if (!sameHash(secret_hash, hash) || (ids.project_id ?? row.project_id) !== row.project_id) return null;
	const caller = { ...key, secret_hash };
	const found = Environment.fromDatabaseJson(columns);
	if (!opens(caller, found)) return null;
	uses.note({ id: caller.key_id, organization_id: caller.organization_id, last_used_at });
	return { caller, environment: found };
}

const statement = `select environments.*, api_keys.secret_hash, api_keys.last_used_at, json_build_object(
		'key_id', api_keys.id,
		'organization_id', api_keys.organization_id,
		'project_id', api_keys.project_id,
		'environment_id', api_keys.environment_id,
		'object_type', api_keys.object_type,
		'access_level', api_keys.access_level
	) as caller
	from api_keys
	join projects on projects.organization_id = api_keys.organization_id
		and (projects.key = :project or projects.id = :project_id::uuid)
	join environments on environments.project_id = projects.id
		and (environments.key = :environment or environments.id = :environment_id::uuid)
	where api_keys.secret_hash = :hash`;
