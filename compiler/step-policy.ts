/** One derivation as Rego: what has to hold for it to count, and the step from instances to what leads to them. */
import { type Edge, roleText } from './circle.js';
import { metadata } from './metadata.js';
import { packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
import { table } from './rego/table.js';
import { nothingAssignedOn, notSuspended } from './role-reference.js';

/**
 * What has to hold for a derivation to count on the instance `object`, for the user `user`, each as a line without
 * indent: none where `no_direct_roles_on_object` is not.
 */
export function conditionsOn({ target, no_direct_roles_on_object }: Edge): readonly Fragment[] {
	return no_direct_roles_on_object ? [nothingAssignedOn(rego`object`, target.type)] : [];
}

/** A function that gives the subjects from whose roles the derivation leads to the target role on any of `objects`. */
export function stepThrough(name: Fragment, edge: Edge): Fragment {
	const { target, source, relation, no_direct_roles_on_object } = edge;
	const user = no_direct_roles_on_object ? rego`user` : rego`_`;
	return lines([
		metadata({ title: `${roleText(target)} is derived from ${roleText(source)} by ${relation}` }),
		rego`${name}(${user}, objects) := {subject |`,
		// First, because it is the same for all objects.
		rego`	${notSuspended(edge)}`,
		rego`	some object in objects`,
		...conditionsOn(edge).map((condition) => rego`	${condition}`),
		rego`	some subject, _ in data.regolith.facts.relations[object]${packagePart(relation)}`,
		rego`}`,
	]);
}

/** Sets as one; `indent` is that of the line where it starts. */
export function united(sets: readonly Fragment[], indent: string): Fragment {
	const [first, ...others] = sets;
	if (first === undefined) return rego`set()`;
	return others.length === 0 ? first : rego`data.regolith.rebac.all_of(${table({ items: sets }, indent)})`;
}
