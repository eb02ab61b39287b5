import type { RegoFile } from '../../compiler/model.js';

/** Returns a policy with all entrypoints. These Rego rules compute its codes. */
export function policyOfCode(rules: string): readonly RegoFile[] {
	return [
		{ path: 'check.rego', text: `package regolith.check\n\n${rules}\ndecision := {"code": code}\n` },
		{ path: 'explain.rego', text: 'package regolith.explain\n\nsections := {}\n' },
		{
			path: 'listing.rego',
			text: `package regolith.listing

user_permissions := {}

instance_permissions := []

user_tenants := []

authorized_users := []
`,
		},
	];
}
