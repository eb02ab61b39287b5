/** Meaning of a denial code, with advice (docs/develop/denial-codes.md). */
export interface DenialCode {
	readonly meaning: string;
	readonly advice: string;
}

const codes: Readonly<Record<string, DenialCode>> = {
	data_outdated: {
		meaning: 'The data of the decision point is older than it may be, so it denies everything.',
		advice: 'It answers again when it reaches the API.',
	},
	environment_deleted: {
		meaning: 'The environment of the decision point was deleted, so it denies everything.',
		advice: 'Start the decision point with the key of another environment.',
	},
	no_such_resource: {
		meaning: 'No resource has this key.',
		advice: 'Correct the resource, or create it.',
	},
	no_such_action: {
		meaning: 'The resource exists and does not have this action.',
		advice: 'Correct the action, or add it to the resource.',
	},
	no_such_tenant: { meaning: 'No tenant has this key.', advice: 'Correct the tenant, or create it.' },
	user_not_synced: {
		meaning: 'No user has this key.',
		advice: 'Create the user. The key has to be exactly that of the check.',
	},
	no_user_roles: {
		meaning: 'The user holds no role in any tenant.',
		advice: 'Assign a role that grants the action.',
	},
	no_role_in_tenant: {
		meaning: 'The user holds roles, and none of them in this tenant.',
		advice: 'Assign a role in this tenant, or ask about another one.',
	},
	no_permission: {
		meaning: 'The user holds roles here, and none of them grants the action.',
		advice: 'Assign another role, or let one of these grant the action.',
	},
	no_such_resource_instance: {
		meaning: 'There is no such instance, and no role in the tenant allows the action.',
		advice: 'Correct the key of the instance, or create it.',
	},
	tenant_mismatch: {
		meaning: 'The instance is in another tenant. Roles on it count only there.',
		advice: 'Ask about the tenant of the instance.',
	},
	no_graph_roles: {
		meaning: 'The user holds no role on the instance: none is assigned, and none is derived.',
		advice: 'Assign a role, or relate the instance to one on which the user holds a role.',
	},
	no_matching_usersets: {
		meaning: 'No user set selects the user.',
		advice: 'Compare the attributes of the user with the conditions. A missing attribute fulfils none.',
	},
	no_matching_resourcesets: {
		meaning: 'The user is in a user set, and no resource set selects the resource.',
		advice: 'Compare the attributes of the resource with the conditions. A missing attribute fulfils none.',
	},
	no_matching_rules: {
		meaning: 'The user is in a user set and the resource in a resource set, and no rule joins them for this action.',
		advice: 'Add a rule between the sets.',
	},
	cloud_pdp_not_supporting_abac: {
		meaning: 'The decision point runs in cloud mode, which does not evaluate conditions.',
		advice: 'Ask a decision point of your own.',
	},
	policy_pending: {
		meaning: 'A possible grant of the action was changed, and the new policy is not active yet.',
		advice: 'Ask again in a moment. “Rego and revisions” says why, if it does not compile.',
	},
	no_matching_mapping_rule: {
		meaning: 'No mapping rule matches the method and the URL.',
		advice: 'Compare the URL with the rules of the proxy configs.',
	},
	evaluation_failed: {
		meaning: 'The decision point could not evaluate the policy, and denies.',
		advice: 'Its log has the error. Please report it.',
	},
};

/** Returns a code's meaning; `null` if the code is unknown. */
export function explainCode(code: string): DenialCode | null {
	return Object.hasOwn(codes, code) ? (codes[code] ?? null) : null;
}

/** All denial codes. */
export const denialCodes: readonly string[] = Object.keys(codes);
