/**
 * Rego for a derivation: its conditions, and the step from instances to the instances from which their roles are
 * derived.
 */
import { type Edge, roleText } from '../cycle.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { table } from '../rego/table.js';
import { isSetRelation } from '../user-set.js';
import { metadata } from './metadata.js';
import { live, nothingAssignedOn, notSuspended, relationPackage, subjectTable } from './role-reference.js';

/**
 * Returns the conditions under which a derivation applies to the user `user` on the instance `object`. Each condition
 * is a line without indent. There are no conditions unless `no_direct_roles_on_object` is set.
 */
export function conditionsOn({ target, no_direct_roles_on_object }: Edge): readonly Fragment[] {
	return no_direct_roles_on_object ? [nothingAssignedOn(rego`object`, target.type)] : [];
}

/** Lines that choose the instance `object` among `objects`. */
export const eachObject = [rego`	some object, until in objects`, rego`	${live(rego`until`)}`];

export function derivationTitle({ relation, source, no_direct_roles_on_object }: Edge): string {
	const rule = isSetRelation(relation)
		? `Assigned to sets of users by ${roleText(source)}`
		: `Derived from ${roleText(source)} via ${relation}`;
	return no_direct_roles_on_object ? `${rule}, unless a role is assigned on the instance` : rule;
}

/**
 * Writes the subjects related to any of these objects by an edge's relation, including conditional relationships whose
 * conditions hold, as a set or a table. Undefined if there are none.
 */
export function relatedSubjects({ target, relation, grant_conditions }: Edge, objects: Fragment): Fragment {
	return grant_conditions === undefined
		? rego`data.regolith.rebac.related(${objects}, ${relation})`
		: rego`data.${relationPackage(target.type, relation)}.related(${objects})`;
}

/** Like `relatedSubjects`, for the instance `object`. */
export function subjectsOfObject(edge: Edge): Fragment {
	return edge.grant_conditions === undefined ? subjectTable(edge.relation) : relatedSubjects(edge, rego`{object}`);
}

/** Writes a function from `objects` to the subjects whose roles lead to the target role. */
export function stepThrough(name: Fragment, edge: Edge): Fragment {
	const { target, source, relation, no_direct_roles_on_object } = edge;
	const user = no_direct_roles_on_object ? rego`user` : rego`_`;
	return lines([
		metadata({ title: `${roleText(target)} is derived from ${roleText(source)} by ${relation}` }),
		rego`${name}(${user}, objects) := {subject |`,
		// This check is first, because it is the same for every object.
		rego`	${notSuspended(edge)}`,
		rego`	some object in objects`,
		...conditionsOn(edge).map((condition) => rego`	${condition}`),
		rego`	some subject, until in ${subjectsOfObject(edge)}`,
		rego`	${live(rego`until`)}`,
		rego`}`,
	]);
}

/** Writes a union of sets. `indent` is the indent of the first line. */
export function united(sets: readonly Fragment[], indent: string): Fragment {
	const [first, ...others] = sets;
	if (first === undefined) return rego`set()`;
	return others.length === 0 ? first : rego`data.regolith.rebac.all_of(${table({ items: sets }, indent)})`;
}
