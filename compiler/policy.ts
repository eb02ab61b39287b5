/** The schema as Rego: a package for each resource type with a rule for each action, for each role and condition set. */
import { type DerivationGraph, graphOf } from './circle.js';
import { writeCircle } from './circle-policy.js';
import { metadata, objectMetadata } from './metadata.js';
import type { Action, RegoFile, Resource, ResourceRole, Schema } from './model.js';
import { sortedBy } from './order.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { heldOn, writeRole } from './role-policy.js';
import { writeConditionSet } from './set-policy.js';
import { type GrantOf, setGrants, writeSetRules } from './set-rule-policy.js';
import { type Walks, walksOf } from './walk.js';
import { writeWalk } from './walk-policy.js';

/**
 * The Rego generated for a schema without errors, sorted by path, as `opa fmt` prints it.
 * Permissions of roles and what they extend are data, so only what exists, its names and derivations change it.
 */
export function writePolicy(schema: Schema): readonly RegoFile[] {
	const graph = graphOf(schema);
	const walks = walksOf(graph, schema);
	const grantOf = setGrants(schema);
	const files = schema.resources.flatMap((resource) => [
		writeResource(resource, grantOf),
		...(resource.roles.length === 0 ? [] : [writeInstances(resource, asksFor(graph, walks, resource))]),
		...resource.roles.map((role) => writeRole(graph, walks, resource, role)),
	]);
	const conditional = graph.circles.filter((circle) => circle.conditional);
	const circles = conditional.map((circle) => writeCircle(graph, walks, circle));
	const walked = walks.all.map((walk) => writeWalk(graph, walk));
	const sets = schema.condition_sets.map(writeConditionSet);
	return sortedBy([...files, ...circles, ...walked, ...sets, ...writeSetRules(schema)], (file) => file.path);
}

function writeResource(resource: Resource, grantOf: GrantOf): RegoFile {
	const actions = sortedBy(resource.actions, (action) => action.key);
	const models = resource.roles.length === 0 ? [rego`rbac`] : [rego`rbac`, rego`rebac`];
	return regoFile(`regolith/resources/${folderOf(resource.key)}/permits.rego`, [
		lines([objectMetadata(rego`resource`, resource), rego`package regolith.resources${packagePart(resource.key)}`]),
		...(actions.length === 0 ? [] : [lines(models.map((model) => rego`import data.regolith.${model}`))]),
		...actions.flatMap((action) => writeAction(resource, action, grantOf)),
	]);
}

/** The bodies of one rule: the first one carries the block. */
function writeAction(resource: Resource, action: Action, grantOf: GrantOf): readonly Fragment[] {
	const permits = rego`permits[${action.key}] if`;
	const path = rego`${packagePart(resource.key)}${packagePart(action.key)}`;
	const bySets = grantOf(resource.key, action.key);
	return [
		lines([objectMetadata(rego`action`, action), rego`${permits} rbac.granted_by(data.regolith.schema.grants${path})`]),
		...(resource.roles.length === 0
			? []
			: [
					lines([
						rego`${permits} {`,
						rego`	roles := data.regolith.schema.resource_grants${path}`,
						rego`	data.${instancesPackage(resource)}.holds_one_of(roles, ${ofCheck})`,
						rego`}`,
					]),
				]),
		...(bySets === undefined ? [] : [rego`${permits} ${bySets}`]),
	];
}

/** What functions of roles on instances are asked about: the user and the instance of the check. */
const ofCheck = rego`rebac.holdings, rebac.instance`;

/** Whether a user holds a role of the type on an instance, as a condition. */
type Asks = (role: ResourceRole, user: Fragment, instance: Fragment) => Fragment;

function asksFor(graph: DerivationGraph, walks: Walks, { key: type }: Resource): Asks {
	return (role, user, instance) => heldOn(graph, walks, { type, role: role.key }, [user, instance]);
}

function instancesPackage(resource: Resource): Fragment {
	return rego`regolith.instances${packagePart(resource.key)}`;
}

/**
 * The package of a type's instances. A check asks functions for roles by their names, and which of the roles count it
 * gives as a table, which is data. Rules are found by a key: `holds` for explanations and listings, and for a denial
 * whether there is another role than those that were asked for.
 */
function writeInstances(resource: Resource, asks: Asks): RegoFile {
	const roles = sortedBy(resource.roles, (role) => role.key);
	return regoFile(`regolith/instances/${folderOf(resource.key)}/holds.rego`, [
		rego`package ${instancesPackage(resource)}`,
		rego`import data.regolith.rebac`,
		...roles.map((role) => writeHolds(role, asks)),
		...(resource.actions.length === 0 ? [] : choices(resource, roles, asks)),
	]);
}

/** What actions ask: for any of some roles, or of the others. */
function choices(resource: Resource, roles: readonly ResourceRole[], asks: Asks): readonly Fragment[] {
	const wanted = roles.map(
		(role) => [asks(role, rego`user`, rego`object`), rego`roles${packagePart(role.key)} == null`] as const,
	);
	return [
		...described('Holds one of these roles on the instance', [
			...wanted.map(([held, condition]) => writeChoice(rego`holds_one_of`, condition, held)),
		]),
		...described('Holds another role than these on the instance', [
			lines([
				rego`holds_another if {`,
				rego`	roles := object.get(data.regolith.schema.resource_grants, [${resource.key}, input.action], {})`,
				rego`	holds_other_than(roles, ${ofCheck})`,
				rego`}`,
			]),
			...wanted.map(([held, condition]) => writeChoice(rego`holds_other_than`, rego`not ${condition}`, held)),
		]),
	];
}

function writeHolds(role: ResourceRole, asks: Asks): Fragment {
	const held = asks(role, rego`rebac.holdings`, rego`rebac.instance`);
	return lines([objectMetadata(rego`role`, role), rego`holds[${role.key}] if ${held}`]);
}

/** One body of a function that looks for any of some roles. */
function writeChoice(name: Fragment, condition: Fragment, held: Fragment): Fragment {
	return lines([rego`${name}(roles, user, object) if {`, rego`	${condition}`, rego`	${held}`, rego`}`]);
}

/** The first one carries the block. */
function described(title: string, [first, ...others]: readonly Fragment[]): readonly Fragment[] {
	return first === undefined ? [] : [lines([metadata({ title }), first]), ...others];
}
