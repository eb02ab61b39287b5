import { z } from 'zod';
import { Attempt } from '../../wire/decision/attempt.js';

const Section = z.object({ allow: z.boolean(), code: z.string(), reason: z.string() });

/** Decision reasons, in the format returned by a decision point in `debug`. */
export const Reasons = z.object({
	/** This is the only field if nothing was evaluated. */
	code: z.string().optional(),
	rbac: Section.optional(),
	rebac: Section.optional(),
	abac: Section.optional(),
	pending: Section.optional(),
	attempts: z.array(Attempt).optional(),
	truncated: z.boolean().optional(),
	granted: z.boolean().optional(),
});
export type Reasons = z.output<typeof Reasons>;

/** A reason for a decision, from one section of the debug output. */
export interface Reason {
	readonly by: 'tenant_roles' | 'instance_roles' | 'condition_sets' | 'pending_policy';
	readonly allow: boolean;
	readonly code: string;
	readonly reason: string;
}

/** Returns the reason from each section. */
export function decidedBy({ rbac, rebac, abac, pending }: Reasons): readonly Reason[] {
	const sections = { tenant_roles: rbac, instance_roles: rebac, condition_sets: abac, pending_policy: pending };
	return Object.entries(sections).flatMap(([by, section]) =>
		section === undefined
			? []
			: [{ by: by as Reason['by'], allow: section.allow, code: section.code, reason: section.reason }],
	);
}

/**
 * Returns the decision code (docs/develop/denial-codes.md). If roles deny the check, this is the tenant role
 * code for a user with a role in the tenant, and the instance role code for any other user.
 */
export function decisionCode(allow: boolean, { code, rbac, rebac, abac, pending }: Reasons): string {
	if (allow) return 'allow';
	if (code !== undefined) return code;
	if (pending !== undefined) return pending.code;
	if (abac?.code === 'cloud_pdp_not_supporting_abac') return abac.code;
	const decisive = rbac?.code === 'no_permission' ? rbac : (rebac ?? rbac);
	return decisive?.code ?? 'unknown';
}
