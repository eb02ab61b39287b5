/** Explains a check's result in a state, using the policy's reasons. */

import { z } from 'zod';
import { type DecidingEngine, type EngineInput, evaluationFailed } from '../pdp/engine/engine.js';
import { instanceType } from '../pdp/facts/instance-name.js';
import type { ImpactCause, ImpactSide } from '../wire/general/impact.js';

const text = z.string().optional();
const Section = z.object({ allow: z.boolean(), code: z.string(), reason: z.string() }).loose();
const Sections = z.object({
	rbac: Section.extend({ allowing_roles: z.array(z.string()).optional() }).optional(),
	rebac: Section.extend({ allowing_roles: z.array(z.object({ role: z.string() })).optional() }).optional(),
	abac: Section.extend({
		allowing_rules: z.array(z.object({ role: text, userset: text, resourceset: text, resource_type: text })).optional(),
	}).optional(),
	pending: Section.optional(),
});

/** Describes a check with the given code. If no description is available, returns only the code. */
export function describeSide(engine: DecidingEngine, input: EngineInput, code: string): ImpactSide {
	const allow = code === 'allow';
	const sections = code === evaluationFailed ? undefined : readSections(engine, input);
	if (sections === undefined) return { allow, code, reason: code, by: [] };
	const { rbac, rebac, abac, pending } = sections;
	const said = [rbac, rebac, abac, pending].filter((section) => section !== undefined);
	const section = said.find((one) => one.code === code) ?? said[0];
	const by: ImpactCause[] = [
		...(rbac?.allowing_roles ?? []).toSorted().map((role) => ({ by: 'role_in_tenant' as const, role })),
		...[...new Set((rebac?.allowing_roles ?? []).map(({ role }) => roleOnType(role)))]
			.toSorted()
			.map((role) => ({ by: 'role_on_instance' as const, role })),
		...(abac?.allowing_rules ?? [])
			.map((rule) => ({ by: 'set_rule' as const, ...rule }))
			.toSorted((left, right) => (causeName(left) < causeName(right) ? -1 : 1)),
	];
	return { allow, code, reason: section?.reason ?? code, by };
}

/** Returns a unique string for a cause, even if its keys contain special characters. */
export function causeName({ by, role, userset, resourceset, resource_type }: ImpactCause): string {
	return JSON.stringify([by, role, userset, resourceset, resource_type]);
}

/** Converts `<type>:<key>#<role>` to `<type>#<role>`. Role keys contain no `#`. */
export function roleOnType(role: string): string {
	return `${instanceType(role)}${role.slice(role.lastIndexOf('#'))}`;
}

function readSections(engine: DecidingEngine, input: EngineInput): z.output<typeof Sections> | undefined {
	try {
		return Sections.safeParse(engine.evaluate('regolith/explain/sections', input)).data;
	} catch {
		// The decision is still valid; only its explanation is missing.
		return undefined;
	}
}
