import type { EnvironmentFields, WritingAccountUnit } from '../store/account/writing-account.js';
import type { Environment } from '../store/table/account.js';
import { Resource, ResourceAttribute } from '../store/table/resource.js';
import { Tenant } from '../store/table/tenant.js';
import type { WritingUnit } from '../store/unit/writing-unit.js';
import { recordPdpConfig } from './pdp-config.js';

/** Built-in user attributes: the user's fields and roles. */
const userAttributes = [
	{ key: 'key', type: 'string', description: 'Built in attribute: the key of the user' },
	{ key: 'roles', type: 'array', description: 'Built in attribute: the keys of the roles the user has' },
	{ key: 'email', type: 'string', description: 'Built in attribute: the e-mail address of the user' },
	{ key: 'first_name', type: 'string', description: 'Built in attribute: the first name of the user' },
	{ key: 'last_name', type: 'string', description: 'Built in attribute: the last name of the user' },
] as const;

/** Built-in resource for users, in every new environment. */
export const userResource = { key: '__user', name: 'User', description: 'The users themselves' } as const;

/** A new environment, its first revision, and the secret for its decision points. */
export interface CreatedEnvironment {
	readonly environment: Environment;
	readonly revision: number;
	readonly secret: string;
}

/**
 * Adds an environment to a project, with the default contents: the resource `__user`, the tenant `default` and an API
 * key. `secret` is the key's secret, if automation chooses it.
 */
export async function createEnvironment(
	account: WritingAccountUnit,
	projectId: string,
	key: string,
	fields: EnvironmentFields,
	secret: string | null = null,
): Promise<CreatedEnvironment> {
	const environment = await account.createEnvironment(projectId, key, fields);
	const created = await account.keys.create({
		project_id: projectId,
		environment_id: environment.id,
		access_level: 'admin',
		owner_type: 'pdp_config',
		name: `${key} environment key`,
		secret,
	});
	const revision = await account.within(environment, async (unit) => {
		await createDefaults(unit);
		recordPdpConfig(unit, null, created.row);
	});
	return { environment, revision, secret: created.secret };
}

async function createDefaults(unit: WritingUnit): Promise<void> {
	const resource = await unit.create(Resource, { ...userResource, built_in: true }, userResource.key);
	const attributes = userAttributes.map((attribute) => ({ ...attribute, resource_id: resource.id, built_in: true }));
	await unit.createMany(ResourceAttribute, attributes, (attribute) => `${resource.key}:${attribute.key}`);
	await unit.create(Tenant, { key: 'default', name: 'Default Tenant', last_action_at: unit.now }, 'default');
}
