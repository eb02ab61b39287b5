/** Rego for grant conditions. Each condition has its own package, and each role calls the conditions it declares. */
import { writeCondition } from '../condition/rego/write-condition.js';
import { type DerivationGraph, type RoleName, roleText } from '../cycle.js';
import type { GrantCondition, RegoFile, Resource } from '../model.js';
import { canonical, sortedBy } from '../order.js';
import { keyFolder, packagePart } from '../rego/path.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { type Body, regoFunction, rule } from '../rego/rule.js';
import { parseGrantCondition } from './grant-conditions.js';
import { metadata, objectMetadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { live } from './role-reference.js';
import { importsFor } from './set-policy.js';

/**
 * Writes the package `regolith.grants.<key>`. Its function `holds` takes the values stored with an assignment or
 * relationship. A mistyped comparison makes the condition fail for this assignment or relationship only.
 */
export function writeGrantCondition(set: GrantCondition): RegoFile {
	const condition = parseGrantCondition(set);
	const written =
		condition === undefined
			? { holds: [rego`false`], mistyped: [], helpers: [] }
			: writeCondition(condition, { object: 'grant', resource: null });
	const part = packagePart(set.key);
	const holds = regoFunction(
		rego`holds`,
		['grant'],
		[
			...written.holds,
			...(written.mistyped.length === 0 ? [] : [rego`not mistyped(grant)`]),
			// This check is last, so it runs only if the condition holds.
			rego`not data.regolith.pending.grants${part}`,
		],
	);
	const code = [
		holds,
		...written.helpers,
		...written.mistyped.map((body) => regoFunction(rego`mistyped`, ['grant'], body)),
	];
	const [first = rego``, ...others] = code;
	return regoFile(`regolith/grants/${keyFolder(set.key)}/holds.rego`, [
		rego`package regolith.grants${part}`,
		...importsFor(code, 'grant'),
		lines([objectMetadata(rego`grant_condition`, set), rego`# scope: document`, first]),
		...others,
	]);
}

/**
 * Writes a body for each condition that a role declares. The body is true if the role is assigned on the instance
 * `object` under this condition, and the condition holds.
 */
export function assignedUnderConditions(graph: DerivationGraph, head: Fragment, name: RoleName): readonly Fragment[] {
	return conditionsOnObject(graph, name).map(({ title, body }) => lines([metadata({ title }), rule(head, body)]));
}

/** Like `assignedUnderConditions`, for any instance in a set or among a table's keys. */
export function assignedUnderConditionsAmong(
	graph: DerivationGraph,
	head: Fragment,
	name: RoleName,
	objects: Fragment,
): readonly Fragment[] {
	return conditionsAmong(graph, name, objects).map(({ title, body }) => lines([metadata({ title }), rule(head, body)]));
}

/** A role's grant condition. `body` is true if the role is assigned under this condition, and the condition holds. */
interface AssignmentBody {
	readonly title: string;
	readonly body: Body;
}

/** Returns the bodies for a role's conditional assignments, for any instance in a set or among a table's keys. */
export function conditionsAmong(graph: DerivationGraph, name: RoleName, objects: Fragment): readonly AssignmentBody[] {
	return graph.conditionsOf(name).map((set) => ({
		title: `Assigned ${roleText(name)} under the condition ${set}`,
		body: [
			rego`grants := ${assignments(name)}`,
			rego`some instance in data.regolith.rebac.granted_among(grants, ${objects})`,
			...meets(rego`grants[instance]${packagePart(set)}`, set),
		],
	}));
}

/** Returns the bodies for a role's conditional assignments on the instance `object`. */
export function conditionsOnObject(graph: DerivationGraph, name: RoleName): readonly AssignmentBody[] {
	return graph.conditionsOf(name).map((set) => ({
		title: `Assigned on the instance under the condition ${set}`,
		body: meets(rego`${assignments(name)}[object]${packagePart(set)}`, set),
	}));
}

/**
 * Writes the package `regolith.conditional.<type>`, for explanations. Its rule `met` lists, for each role, the
 * conditions under which the user holds the role on the check's instance. Returns no file if no role declares
 * conditions.
 */
export function writeMetConditions({ key: type, roles }: Resource): readonly RegoFile[] {
	const bodies = sortedBy(roles, ({ key }) => key).flatMap(({ key: role, grant_conditions = [] }) =>
		canonical(new Set(grant_conditions)).map((set) =>
			rule(
				rego`met${packagePart(role)} contains ${set}`,
				meets(rego`${assignments({ type, role })}[rebac.instance]${packagePart(set)}`, set),
			),
		),
	);
	if (bodies.length === 0) return [];
	return [
		regoFile(`regolith/conditional/${keyFolder(type)}/met.rego`, [
			rego`package regolith.conditional${packagePart(type)}`,
			rego`import data.regolith.rebac`,
			...bodies,
		]),
	];
}

/** Writes the table with the user's conditional assignments for a role. */
function assignments({ type, role }: RoleName): Fragment {
	return rego`data.regolith.facts.conditional_roles[input.user.key]${packagePart(type)}${packagePart(role)}`;
}

/** Writes statements that are true if a conditional fact has not expired and its condition holds. */
export function meets(grant: Fragment, set: string): Body {
	return [
		rego`grant := ${grant}`,
		live(rego`grant.until`),
		rego`data.regolith.grants${packagePart(set)}.holds(grant.values)`,
	];
}
