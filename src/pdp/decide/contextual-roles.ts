/** Roles derived through contextual relationships. The policy decides the roles at each relationship's subject. */

import { z } from 'zod';
import type { Problem } from '../../failure.js';
import type { ContextualTuple } from '../../wire/decision/contextual-facts.js';
import type { DecidingEngine, EngineInput } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceName, instanceType, parseInstanceName } from '../facts/instance-name.js';
import { jsonMembers, valueAt } from '../facts/json-members.js';
import type { SchemaTables } from '../facts/schema-tables.js';

/** A policy and the index of its data. */
export interface RolesReading {
	readonly engine: DecidingEngine;
	readonly facts: FactsIndex;
	/** Time of the decision in milliseconds since 1970. */
	readonly time: number;
}

export type PlacedRole = readonly [instance: string, role: string];

/** A role on a relationship's object, derived from a role on the relationship's subject. */
export interface ContextualDerivation {
	readonly object: string;
	readonly role: string;
	readonly relation: string;
	readonly subject: string;
	readonly source: string;
}

const Entries = z.array(
	z.object({ resource: z.object({ type: z.string(), key: z.string() }), roles: z.array(z.string()) }),
);

/**
 * Returns the roles that a user derives through contextual relationships, from the roles on their subjects.
 * Throws `EngineError` if the policy cannot be evaluated.
 */
export function contextualDerivations(
	{ engine, facts, time }: RolesReading,
	user: EngineInput['user'],
	tuples: readonly ContextualTuple[],
): readonly ContextualDerivation[] {
	const instances = [...new Set(tuples.map(({ subject }) => subject))].map(parseInstanceName);
	const entries = Entries.parse(engine.evaluate('regolith/listing/instance_permissions', { user, instances, time }));
	const held = new Map(entries.map(({ resource, roles }) => [instanceName(resource), roles]));
	return tuples.flatMap(({ subject, relation, object }) =>
		(held.get(subject) ?? []).flatMap((source) =>
			facts.schema
				.derivedFrom(instanceType(subject), source)
				.filter((derived) => derived.relation === relation && derived.resource === instanceType(object))
				.filter(({ resource, role }) => {
					const name = `${relation} from ${instanceType(subject)}#${source}`;
					return facts.pendingAt('derivations', resource, role, name) === undefined;
				})
				.map(({ role }) => ({ object, role, relation, subject, source })),
		),
	);
}

/** Returns the roles that users may hold conditionally, by conditional assignments or relationships. */
function rolesUnderConditions(schema: SchemaTables): ReadonlySet<string> {
	const found = new Map<string, readonly [type: string, role: string]>();
	const add = (type: string, role: string) => found.set(JSON.stringify([type, role]), [type, role]);
	for (const [type, roles] of jsonMembers(valueAt(schema.value, 'grant_conditions'))) {
		for (const [role] of jsonMembers(roles)) add(type, role);
	}
	for (const [type, relations] of jsonMembers(valueAt(schema.value, 'relation_conditions'))) {
		const declaring = new Set(jsonMembers(relations).map(([relation]) => relation));
		for (const role of schema.rolesOn(type)) {
			if (schema.derivations(type, role).some(({ relation }) => declaring.has(relation))) add(type, role);
		}
	}
	// A Map also iterates over entries added during the iteration, so it serves as the queue.
	for (const [type, role] of found.values()) {
		for (const derived of schema.derivedFrom(type, role)) add(derived.resource, derived.role);
	}
	return new Set(found.keys());
}

/**
 * Returns a problem for each relationship whose derived roles cannot be calculated, for one of three reasons. Roles
 * through contextual relationships are passed to the policy like assigned roles, so assigned roles must not block
 * derivations on the object. A computed role may exclude a role that is added later, so no role may be derived from a
 * computed role. The calculation does not know the check's context, so the relationship must not derive roles from a
 * role that users may hold under a condition.
 */
export function unsupportedTuples(
	schema: SchemaTables,
	tuples: readonly ContextualTuple[],
	place: Problem['loc'],
): readonly Problem[] {
	const computed = schema.derivesFromComputed ? 'a role is derived from a computed role' : undefined;
	const conditional = rolesUnderConditions(schema);
	return tuples.flatMap(({ relation, object }, index) => {
		const type = instanceType(object);
		const ways = schema.rolesOn(type).flatMap((role) => schema.derivations(type, role));
		const followed = ways.filter((way) => way.relation === relation);
		if (followed.length === 0) return [];
		const under = followed.find((way) => conditional.has(JSON.stringify([way.resource, way.role])));
		const reason = ways.some((way) => way.no_direct_roles_on_object)
			? `a role assigned on \`${type}\` blocks a derivation there (no_direct_roles_on_object)`
			: under !== undefined
				? `users may hold \`${under.resource}#${under.role}\` under a condition`
				: computed;
		if (reason === undefined) return [];
		const msg = `contextual relationships by \`${relation}\` are not supported, because ${reason}`;
		return [{ loc: [...place, 'relationship_tuples', index, 'relation'], msg, type: 'not_supported' }];
	});
}
