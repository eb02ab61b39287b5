import { z } from 'zod';
import { Attempt } from '../../wire/decision/attempt.js';

const Section = z.object({ allow: z.boolean(), code: z.string(), reason: z.string() });

/** The reasons of a decision, as a decision point gives them in `debug`. */
export const Reasons = z.object({
	/** Alone where nothing was evaluated. */
	code: z.string().optional(),
	rbac: Section.optional(),
	rebac: Section.optional(),
	abac: Section.optional(),
	pending: Section.optional(),
	attempts: z.array(Attempt).optional(),
	truncated: z.boolean().optional(),
});
export type Reasons = z.output<typeof Reasons>;

/** What one kind of grants says to a check. */
export interface Reason {
	readonly by: 'tenant_roles' | 'instance_roles' | 'condition_sets' | 'pending_policy';
	readonly allow: boolean;
	readonly code: string;
	readonly reason: string;
}

/** What each kind of grants says. */
export function decidedBy({ rbac, rebac, abac, pending }: Reasons): readonly Reason[] {
	const sections = { tenant_roles: rbac, instance_roles: rebac, condition_sets: abac, pending_policy: pending };
	return Object.entries(sections).flatMap(([by, section]) =>
		section === undefined
			? []
			: [{ by: by as Reason['by'], allow: section.allow, code: section.code, reason: section.reason }],
	);
}

/**
 * The code of a decision (docs/denial-codes.md). Of a denial it is that of the roles on the instance where the user has
 * no role in the tenant, and otherwise that of the roles in the tenant.
 */
export function decisionCode(allow: boolean, { code, rbac, rebac, abac, pending }: Reasons): string {
	if (allow) return 'allow';
	if (code !== undefined) return code;
	if (pending !== undefined) return pending.code;
	if (abac?.code === 'cloud_pdp_not_supporting_abac') return abac.code;
	const decisive = rbac?.code === 'no_permission' ? rbac : (rebac ?? rbac);
	return decisive?.code ?? 'unknown';
}
