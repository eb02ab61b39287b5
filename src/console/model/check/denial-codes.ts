/** Meaning of a denial code, with advice (docs/develop/denial-codes.md). */
export interface DenialCode {
	readonly meaning: string;
	readonly advice: string;
}

const codes: Readonly<Record<string, DenialCode>> = {
	data_outdated: {
		meaning: 'The decision point’s data is too old, so it denies every check.',
		advice: 'It recovers when it reconnects to the API.',
	},
	environment_deleted: {
		meaning: 'The decision point’s environment was deleted, so it denies every check.',
		advice: 'Start it with the key of a different environment.',
	},
	no_such_resource: {
		meaning: 'No resource has this key.',
		advice: 'Check the key, or create the resource.',
	},
	no_such_action: {
		meaning: 'The resource does not have this action.',
		advice: 'Check the key, or add the action to the resource.',
	},
	no_such_tenant: { meaning: 'No tenant has this key.', advice: 'Check the key, or create the tenant.' },
	user_not_synced: {
		meaning: 'No user has this key.',
		advice: 'Create the user with exactly the key used in the check.',
	},
	no_user_roles: {
		meaning: 'The user has no role in any tenant.',
		advice: 'Assign a role that grants the action.',
	},
	no_role_in_tenant: {
		meaning: 'The user has roles, but none in this tenant.',
		advice: 'Assign a role in this tenant, or run the check in a different tenant.',
	},
	no_permission: {
		meaning: 'The user has roles here, but none of them grants the action.',
		advice: 'Assign a different role, or grant the action to one of these roles.',
	},
	no_such_resource_instance: {
		meaning: 'The instance does not exist, and no role in the tenant grants the action.',
		advice: 'Check the key, or create the instance.',
	},
	tenant_mismatch: {
		meaning: 'The instance belongs to a different tenant. Roles on the instance apply only in that tenant.',
		advice: 'Run the check in the tenant of the instance.',
	},
	no_graph_roles: {
		meaning: 'The user has no role on the instance, neither assigned nor derived.',
		advice: 'Assign a role, or add a relationship to an instance on which the user has a role.',
	},
	no_matching_usersets: {
		meaning: 'The user matches no user set.',
		advice: 'Compare the user’s attributes with the conditions. A missing attribute never matches.',
	},
	no_matching_resourcesets: {
		meaning: 'The user matches a user set, but the resource matches no resource set.',
		advice: 'Compare the resource’s attributes with the conditions. A missing attribute never matches.',
	},
	no_matching_rules: {
		meaning: 'User and resource match condition sets, but no rule connects these sets for this action.',
		advice: 'Add a rule for the two sets.',
	},
	cloud_pdp_not_supporting_abac: {
		meaning: 'The decision point runs in cloud mode, which evaluates no conditions.',
		advice: 'Use a self-hosted decision point.',
	},
	policy_pending: {
		meaning: 'The policy for this action has just changed and is not active yet.',
		advice: 'Try again in a moment. If the policy does not compile, “Rego and revisions” shows the reason.',
	},
	no_matching_mapping_rule: {
		meaning: 'No mapping rule matches the method and the URL.',
		advice: 'Compare the URL with the mapping rules in the proxy configs.',
	},
	evaluation_failed: {
		meaning: 'The decision point failed to evaluate the policy, so it denies the check.',
		advice: 'See the decision point’s log for the error, and report it.',
	},
};

/** Returns a code's meaning; `null` if the code is unknown. */
export function explainCode(code: string): DenialCode | null {
	return Object.hasOwn(codes, code) ? (codes[code] ?? null) : null;
}

export const denialCodes: readonly string[] = Object.keys(codes);
