/** Marks the contextual facts in the reasons for a decision. */

import { z } from 'zod';
import { ContextualFacts } from '../../wire/decision/contextual-facts.js';
import type { EngineInput } from '../engine/engine.js';
import { contextualDerivations, type RolesReading } from './contextual-roles.js';

const Source = z.looseObject({ type: z.string(), role: z.string(), resource: z.string() });
type Source = z.output<typeof Source>;

/** The part of the reasons with the sources for roles on the instance. */
const Sections = z.looseObject({
	rebac: z.looseObject({ allowing_roles: z.array(z.looseObject({ role: z.string(), sources: z.array(Source) })) }),
});

/**
 * Returns the reasons with `contextual: true` at each source that is not stored. A role through a contextual
 * relationship gets a derivation as its source. Throws `EngineError` if the policy cannot be evaluated.
 */
export function markContextualSources(context: RolesReading, input: EngineInput, reasons: unknown): unknown {
	const read = Sections.safeParse(reasons);
	const given = ContextualFacts.safeParse(input.contextual_facts);
	if (!read.success || !given.success) return reasons;
	const { rebac, ...others } = read.data;
	const { user } = input;
	const named = (instance: string, role: string) => `${instance}#${role}`;
	const stored = new Set(
		Array.from(context.facts.instanceRoles.from(user.key, context.time), ([instance, role]) => named(instance, role)),
	);
	const assigned = new Set(
		(given.data.role_assignments ?? [])
			.filter((assignment) => assignment.user === user.key)
			.map(({ resource_instance, role }) => named(resource_instance, role)),
	);
	const tuples = given.data.relationship_tuples ?? [];
	const derived = tuples.length === 0 ? [] : contextualDerivations(context, input.user, tuples);
	const derivationsOf = (name: string): readonly Source[] =>
		derived
			.filter(({ object, role }) => named(object, role) === name)
			.map(({ subject, source, relation }) => ({
				type: 'role_derivation',
				role: named(subject, source),
				resource: subject,
				relation,
				contextual: true,
			}));
	// The policy reads all roles in the input as assigned roles. Sources with a user are assignments
	// to everyone, and conditional assignments are always stored.
	const mark = (source: Source): readonly Source[] => {
		if (source.type !== 'role_assignment' || 'user' in source || 'condition' in source) return [source];
		if (stored.has(source.role)) return [source];
		return assigned.has(source.role) ? [{ ...source, contextual: true }] : [];
	};
	const allowing_roles = rebac.allowing_roles.map((allowing) => ({
		...allowing,
		sources: [...allowing.sources.flatMap(mark), ...derivationsOf(allowing.role)],
	}));
	return { ...others, rebac: { ...rebac, allowing_roles } };
}
