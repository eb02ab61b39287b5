import type { Attributes } from '../../../compiler/model.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { RelationshipTuple } from './relationship-tuple.js';
import { RoleAssignment } from './role-assignment.js';

/** A role's assignments, or a relation's relationships, with the same condition and values. */
export interface ConditionalFact {
	/** Role or relation id. */
	readonly of: string;
	readonly condition_set: string;
	readonly condition_values: Attributes;
}

/** Filter for facts. Absent lists do not filter. */
interface ConditionalFactFilter {
	/** Role or relation ids. */
	readonly of?: readonly string[];
	readonly sets?: readonly string[];
}

/**
 * Returns the distinct combinations of role, condition and values in stored assignments, including expired assignments.
 */
export function conditionalAssignments(
	unit: ReadingUnit,
	filter: ConditionalFactFilter,
): Promise<readonly ConditionalFact[]> {
	return conditionalFacts(unit, RoleAssignment, 'role_id', filter);
}

/** Returns the distinct combinations of relation, condition and values in stored tuples, including expired tuples. */
export function conditionalTuples(
	unit: ReadingUnit,
	filter: ConditionalFactFilter,
): Promise<readonly ConditionalFact[]> {
	return conditionalFacts(unit, RelationshipTuple, 'relation_id', filter);
}

async function conditionalFacts(
	unit: ReadingUnit,
	table: typeof RoleAssignment | typeof RelationshipTuple,
	column: 'role_id' | 'relation_id',
	{ of, sets }: ConditionalFactFilter,
): Promise<readonly ConditionalFact[]> {
	const { tableName } = table;
	const [id, set] = [`${tableName}.${column}`, `${tableName}.condition_set`];
	const query = unit
		.queryStored<RoleAssignment | RelationshipTuple>(table)
		.whereNotNull(set)
		.distinct(`${id} as of`, set, `${tableName}.condition_values`);
	if (of !== undefined) query.whereRaw('?? = any(?::uuid[])', [id, of]);
	if (sets !== undefined) query.whereRaw('?? = any(?::text[])', [set, sets]);
	return query.castTo<ConditionalFact[]>();
}
