/** Marks the contextual facts in the reasons for a decision. */

import { z } from 'zod';
import type { EngineInput } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';

const Source = z.looseObject({ type: z.string(), role: z.string(), resource: z.string() });

/** Part of the reasons that names the sources of roles on the instance. */
const Sections = z.looseObject({
	rebac: z.looseObject({ allowing_roles: z.array(z.looseObject({ sources: z.array(Source) })) }),
});

/** Returns the reasons with `contextual: true` at each role assignment that is not stored. */
export function markContextualSources(facts: FactsIndex, { user, time }: EngineInput, reasons: unknown): unknown {
	const read = Sections.safeParse(reasons);
	if (!read.success) return reasons;
	const { rebac, ...others } = read.data;
	const stored = new Set(
		Array.from(facts.instanceRoles.from(user.key, time), ([instance, role]) => `${instance}#${role}`),
	);
	const mark = (source: z.output<typeof Source>) =>
		source.type === 'role_assignment' && !stored.has(source.role) ? { ...source, contextual: true } : source;
	const allowing_roles = rebac.allowing_roles.map((role) => ({ ...role, sources: role.sources.map(mark) }));
	return { ...others, rebac: { ...rebac, allowing_roles } };
}
