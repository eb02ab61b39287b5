import type { DecisionDebug, Reasons } from './attempt.js';

/** What decided a check. */
export interface Decided {
	readonly code: string;
	/** The same as a sentence about this check; `null` where none was given. */
	readonly reason: string | null;
}

/**
 * What decided a check. Of a denial it is what roles on the instance say where the user has no role in the tenant, and
 * otherwise what roles in the tenant say (docs/denial-codes.md).
 */
export function decisiveReason(allow: boolean, { code, reason, rbac, rebac, abac, pending }: DecisionDebug): Decided {
	if (allow) return { code: 'allow', reason: null };
	if (code !== undefined) return { code, reason: reason ?? null };
	const isOfCloud = abac?.code === 'cloud_pdp_not_supporting_abac';
	const ofRoles = rbac?.code === 'no_permission' ? rbac : (rebac ?? rbac);
	return pending ?? (isOfCloud ? abac : ofRoles) ?? { code: 'unknown', reason: null };
}

/** What each kind of grants says, with its name. */
export function reasonSections({ rbac, rebac, abac, pending }: DecisionDebug): readonly (readonly [string, Reasons])[] {
	const sections = [
		['Roles in the tenant', rbac],
		['Roles on the instance', rebac],
		['Condition sets', abac],
		['The policy', pending],
	] as const;
	return sections.flatMap(([title, section]) => (section === undefined ? [] : [[title, section] as const]));
}
