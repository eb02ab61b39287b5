/** Computes closures for all instances from a facts index. */

import { circularRelations } from '../../compiler/cycle.js';
import { delta, type Neighbourhood, type Touched } from '../../compiler/data/delta.js';
import type { Patch, Relationship, Schema } from '../../compiler/model.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';
import { instanceType, parseInstanceName } from '../pdp/facts/instance-name.js';

/** `Touched` without any changes. */
export const nothingTouched: Touched = {
	schema: false,
	pending: false,
	contextual_facts: false,
	users: [],
	tenants: [],
	tenant_attributes: [],
	memberships: [],
	derivations: false,
	instances: [],
	instance_assignments: [],
	relationships: [],
	mapping_rules: [],
	user_attributes: [],
	instance_attributes: [],
};

export const emptyNeighbourhood: Neighbourhood = {
	schema: null,
	in_force: null,
	contextual_facts: false,
	users: [],
	tenants: [],
	role_assignments: [],
	instances: [],
	instance_assignments: [],
	holdings: [],
	conditional: false,
	relationships: [],
	related: [],
	closures: null,
	mapping_rules: [],
	user_attributes: [],
	instance_attributes: [],
};

/** Returns the patches that replace all closures with closures computed from the index's relationships. */
export function closurePatches(facts: FactsIndex, schema: Schema, inForce: Schema | null): readonly Patch[] {
	const relationships = [...circularRelationships(facts, inForce ?? schema)];
	const now = { ...emptyNeighbourhood, schema, in_force: inForce, closures: { of: 'all' as const, relationships } };
	return delta(nothingTouched, now);
}

/** Yields the relationships that determine closures. */
function* circularRelationships({ instances, relations }: FactsIndex, schema: Schema): Iterable<Relationship> {
	const byType = new Map<string, Set<string>>();
	for (const { type, relation } of circularRelations(schema)) {
		byType.set(type, (byType.get(type) ?? new Set()).add(relation));
	}
	if (byType.size === 0) return;
	for (const object of instances) {
		const wanted = byType.get(instanceType(object));
		if (wanted === undefined) continue;
		for (const [subject, relation, until] of relations.expiringFrom(object)) {
			if (wanted.has(relation)) yield relationship(object, relation, subject, until);
		}
	}
}

/** Returns a relationship between the instances with these names. */
export function relationship(
	object: string,
	relation: string,
	subject: string,
	until: number | null,
	condition?: Relationship['condition'],
): Relationship {
	const [{ type, key: instance }, from] = [parseInstanceName(object), parseInstanceName(subject)];
	return {
		...{ type, instance, relation, subject_type: from.type, subject: from.key },
		...(until !== null && { expires_at: until }),
		...(condition !== undefined && { condition }),
	};
}
