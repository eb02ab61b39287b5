import type { Endpoint } from '../http/endpoint.js';
import { auditLogs } from './audit-logs.js';
import { consoleSignIn } from './console/sign-in.js';
import { elementsConfigs } from './elements/configs.js';
import { elementRequests } from './elements/element-requests.js';
import { inviteApproval } from './elements/invite-approval.js';
import { operationApprovals } from './elements/operation-approvals.js';
import { elementsRuntime } from './elements/runtime.js';
import { elementSessions } from './elements/sessions.js';
import { elementSignIn } from './elements/sign-in.js';
import { userManagement } from './elements/user-management.js';
import { userRequests } from './elements/user-requests.js';
import { webhooks } from './elements/webhooks.js';
import { effectiveRoles } from './facts/effective-roles.js';
import { proxyConfigs } from './facts/proxy-configs.js';
import { relationshipTuples } from './facts/relationship-tuples.js';
import { resourceInstances } from './facts/resource-instances.js';
import { roleAssignments } from './facts/role-assignments.js';
import { setRules } from './facts/set-rules.js';
import { tenantUsers } from './facts/tenant-users.js';
import { tenants } from './facts/tenants.js';
import { userInvites } from './facts/user-invites.js';
import { users } from './facts/users.js';
import { apiKeys } from './general/api-keys.js';
import { changes } from './general/changes.js';
import { drafts } from './general/drafts.js';
import { environmentCopies } from './general/environment-copies.js';
import { environments } from './general/environments.js';
import { graph } from './general/graph.js';
import { health } from './general/health.js';
import { impact } from './general/impact.js';
import { members } from './general/members.js';
import { organizations } from './general/organizations.js';
import { policies } from './general/policies.js';
import { policy } from './general/policy.js';
import { projects } from './general/projects.js';
import { transfer } from './general/transfer.js';
import { groupNesting } from './groups/group-nesting.js';
import { groupRoles } from './groups/group-roles.js';
import { groupUsers } from './groups/group-users.js';
import { groups } from './groups/groups.js';
import { ownPdp } from './pdps/own-pdp.js';
import { pdps } from './pdps/pdps.js';
import { actionGroups } from './schema/action-groups.js';
import { checkTests } from './schema/check-tests.js';
import { conditionPreviews } from './schema/condition-previews.js';
import { conditionSets } from './schema/condition-sets.js';
import { implicitGrants } from './schema/implicit-grants.js';
import { relations } from './schema/relations.js';
import { resourceActions } from './schema/resource-actions.js';
import { resourceAttributes } from './schema/resource-attributes.js';
import { resourceRoles } from './schema/resource-roles.js';
import { resources } from './schema/resources.js';
import { resourceRoleHierarchy, roleHierarchy } from './schema/role-hierarchy.js';
import { roles } from './schema/roles.js';
import { userAttributes } from './schema/user-attributes.js';

/** All management API endpoints, in documentation order. If two endpoints match a request, the first serves it. */
export const endpoints: readonly Endpoint<string, never>[] = [
	...health,
	...apiKeys,
	...consoleSignIn,
	...organizations,
	...members,
	...projects,
	...environments,
	...changes,
	...environmentCopies,
	...transfer,
	...drafts,
	...impact,
	...graph,
	...policy,
	...policies,
	...ownPdp,
	...pdps,
	...auditLogs,
	...resources,
	...resourceActions,
	...actionGroups,
	...resourceAttributes,
	...resourceRoles,
	...resourceRoleHierarchy,
	...implicitGrants,
	...userAttributes,
	...relations,
	...roles,
	...roleHierarchy,
	...conditionSets,
	...conditionPreviews,
	...checkTests,
	...users,
	...effectiveRoles,
	...tenants,
	...tenantUsers,
	...roleAssignments,
	...resourceInstances,
	...relationshipTuples,
	...setRules,
	...groups,
	...groupRoles,
	...groupUsers,
	...groupNesting,
	...userInvites,
	...proxyConfigs,
	// An element with the key `sessions` collides with the sessions path. Clients delete it under `config/` instead.
	...elementSignIn,
	...inviteApproval,
	...elementSessions,
	...elementsConfigs,
	...elementsRuntime,
	...userManagement,
	...webhooks,
	...userRequests,
	...operationApprovals,
	...elementRequests,
];
