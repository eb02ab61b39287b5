/** A new environment's facts in document form. */
export const newEnvironmentFacts = {
	tenants: { default: { name: 'Default Tenant' } },
	users: {},
	tenant_users: [],
	resource_instances: {},
	groups: {},
	made_for_groups: [],
	relationship_tuples: [],
	role_assignments: [],
	user_invites: {},
} as const;
