import type { Endpoint } from '../http/endpoint.js';
import { roleAssignments } from './facts/role-assignments.js';
import { tenantUsers } from './facts/tenant-users.js';
import { tenants } from './facts/tenants.js';
import { users } from './facts/users.js';
import { apiKeys } from './general/api-keys.js';
import { environmentCopies } from './general/environment-copies.js';
import { environments } from './general/environments.js';
import { health } from './general/health.js';
import { organizations } from './general/organizations.js';
import { policy } from './general/policy.js';
import { projects } from './general/projects.js';
import { transfer } from './general/transfer.js';
import { resourceActions } from './schema/resource-actions.js';
import { resourceAttributes } from './schema/resource-attributes.js';
import { resources } from './schema/resources.js';
import { roles } from './schema/roles.js';

/** Every endpoint of the management API, in the order of the documentation; of two that match, the first serves. */
export const endpoints: readonly Endpoint<string, never>[] = [
	...health,
	...apiKeys,
	...organizations,
	...projects,
	...environments,
	...environmentCopies,
	...transfer,
	...policy,
	...resources,
	...resourceActions,
	...resourceAttributes,
	...roles,
	...users,
	...tenants,
	...tenantUsers,
	...roleAssignments,
];
