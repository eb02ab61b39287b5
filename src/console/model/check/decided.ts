import type { DecisionDebug, Reasons } from './attempt.js';

/** Reason that decided a check. */
export interface Decided {
	readonly code: string;
	/** Sentence about this check; `null` if there is none. */
	readonly reason: string | null;
}

/**
 * Returns the reason that decided a check. For a denial, this is the instance role reason if the user has no role in
 * the tenant, and the tenant role reason otherwise (docs/develop/denial-codes.md).
 */
export function decisiveReason(allow: boolean, { code, reason, rbac, rebac, abac, pending }: DecisionDebug): Decided {
	if (allow) return { code: 'allow', reason: null };
	if (code !== undefined) return { code, reason: reason ?? null };
	const isOfCloud = abac?.code === 'cloud_pdp_not_supporting_abac';
	const ofRoles = rbac?.code === 'no_permission' ? rbac : (rebac ?? rbac);
	return pending ?? (isOfCloud ? abac : ofRoles) ?? { code: 'unknown', reason: null };
}

/** Returns the reasons by kind of grant, each with a title. */
export function reasonSections({ rbac, rebac, abac, pending }: DecisionDebug): readonly (readonly [string, Reasons])[] {
	const sections = [
		['Roles in the tenant', rbac],
		['Roles on the instance', rebac],
		['Condition sets', abac],
		['Policy', pending],
	] as const;
	return sections.flatMap(([title, section]) => (section === undefined ? [] : [[title, section] as const]));
}
