/**
 * Writes the schema as Rego: a package for each resource type, role and condition set. A resource type's package has a
 * rule for each action.
 */
import { type DerivationGraph, derivationGraph } from '../cycle.js';
import { findWalks, type Walks } from '../data/walk.js';
import type { Action, RegoFile, Resource, ResourceRole, Schema } from '../model.js';
import { sortedBy } from '../order.js';
import { keyFolder, packagePart } from '../rego/path.js';
import { type Fragment, lines, rego } from '../rego/rego.js';
import { writeAgo } from './ago-policy.js';
import { writeConditionalRelations } from './conditional-relation-policy.js';
import { writeCycle } from './cycle-policy.js';
import { writeGrantCondition, writeMetConditions } from './grant-condition-policy.js';
import { writeMatching } from './matching-policy.js';
import { metadata, objectMetadata } from './metadata.js';
import { regoFile } from './rego-file.js';
import { heldOn, writeRole } from './role-policy.js';
import { writeConditionSet } from './set-policy.js';
import { type SetGrant, setGrants, writeSetRules } from './set-rule-policy.js';
import { writeWalk } from './walk-policy.js';

/**
 * Writes the Rego for a schema without errors, sorted by path, in `opa fmt` layout. Role permissions and `extends` are
 * data. The Rego therefore changes only if the objects, their names or their derivations change.
 */
export function writePolicy(schema: Schema): readonly RegoFile[] {
	const graph = derivationGraph(schema);
	const walks = findWalks(graph, schema);
	const setGrant = setGrants(schema);
	const files = schema.resources.flatMap((resource) => [
		writeResource(graph, resource, setGrant),
		...(resource.roles.length === 0 ? [] : [writeInstances(graph, walks, resource)]),
		...resource.roles.map((role) => writeRole(graph, walks, resource, role)),
		...writeMetConditions(resource),
		...writeConditionalRelations(resource),
	]);
	const conditional = graph.cycles.filter((cycle) => cycle.conditional);
	const cycles = conditional.map((cycle) => writeCycle(graph, walks, cycle));
	const walked = walks.all.map((walk) => writeWalk(graph, walk));
	const { condition_sets } = schema;
	const { grant_conditions = [] } = schema;
	const sets = [
		...condition_sets.map(writeConditionSet),
		...grant_conditions.map(writeGrantCondition),
		...writeAgo(condition_sets, grant_conditions),
		...writeMatching(condition_sets),
	];
	return sortedBy([...files, ...cycles, ...walked, ...sets, ...writeSetRules(schema)], (file) => file.path);
}

function writeResource(graph: DerivationGraph, resource: Resource, setGrant: SetGrant): RegoFile {
	const actions = sortedBy(resource.actions, (action) => action.key);
	const models = resource.roles.length === 0 ? [rego`rbac`] : [rego`rbac`, rego`rebac`];
	return regoFile(`regolith/resources/${keyFolder(resource.key)}/permits.rego`, [
		lines([objectMetadata(rego`resource`, resource), rego`package regolith.resources${packagePart(resource.key)}`]),
		...(actions.length === 0
			? []
			: [
					lines(models.map((model) => rego`import data.regolith.${model}`)),
					...actions.flatMap((action) => writeAction(resource, action, setGrant)),
					...writeRolesThatGrant(graph, resource),
				]),
	]);
}

/** Writes the bodies for an action's rule. The METADATA block is on the first body. */
function writeAction(resource: Resource, action: Action, setGrant: SetGrant): readonly Fragment[] {
	const permits = rego`permits[${action.key}] if`;
	const bySets = setGrant(resource.key, action.key);
	return [
		lines([objectMetadata(rego`action`, action), rego`${permits} granted_by_role(${action.key})`]),
		...(bySets === undefined ? [] : [rego`${permits} ${bySets}`]),
	];
}

/**
 * Writes the role check for all actions on a type. The function takes the action as a parameter, because compile time
 * grows with the number of bodies.
 */
function writeRolesThatGrant(graph: DerivationGraph, resource: Resource): readonly Fragment[] {
	const type = packagePart(resource.key);
	return described('A role in the tenant or on the instance grants the action', [
		rego`granted_by_role(action) if rbac.granted_by(data.regolith.schema.grants${type}[action])`,
		...(resource.roles.length === 0
			? []
			: [
					lines([
						rego`granted_by_role(action) if {`,
						rego`	roles := data.regolith.schema.resource_grants${type}[action]`,
						rego`	data.${instancesPackage(resource)}.holds_one_of(roles, ${holdingsFor(graph, resource)}, rebac.instance)`,
						rego`}`,
					]),
				]),
	]);
}

/**
 * Returns the user's assignments, for the role functions of a type. If the user can hold a role of the type without
 * their own assignment, returns an empty table for users without assignments.
 */
function holdingsFor(graph: DerivationGraph, { key: type, roles }: Resource): Fragment {
	return roles.some(
		({ key: role }) => graph.isPublicUpstream({ type, role }) || graph.isConditionalUpstream({ type, role }),
	)
		? rego`rebac.holdings_or_none`
		: rego`rebac.holdings`;
}

/** Writes the condition that a user holds a role on an instance of the type. */
type HeldWriter = (role: ResourceRole, user: Fragment, instance: Fragment) => Fragment;

function heldWriter(graph: DerivationGraph, walks: Walks, { key: type }: Resource): HeldWriter {
	return (role, user, instance) => heldOn(graph, walks, { type, role: role.key }, [user, instance]);
}

function instancesPackage(resource: Resource): Fragment {
	return rego`regolith.instances${packagePart(resource.key)}`;
}

/**
 * Writes the package of a type's instances. A check calls functions with a body for each role, and passes a table of
 * the relevant roles, which comes from the data. Explanations and listings look up `holds` by role. A denial calls
 * `holds_another`.
 */
function writeInstances(graph: DerivationGraph, walks: Walks, resource: Resource): RegoFile {
	const holdings = holdingsFor(graph, resource);
	const writeHeld = heldWriter(graph, walks, resource);
	const roles = sortedBy(resource.roles, (role) => role.key);
	return regoFile(`regolith/instances/${keyFolder(resource.key)}/holds.rego`, [
		rego`package ${instancesPackage(resource)}`,
		rego`import data.regolith.rebac`,
		...roles.map((role) => writeHolds(role, holdings, writeHeld)),
		...(resource.actions.length === 0 ? [] : choices(resource, roles, holdings, writeHeld)),
	]);
}

/**
 * Writes the functions for action checks. `holds_one_of` is true if the user holds any of the passed roles, and
 * `holds_another` if the user holds a role that does not grant the action.
 */
function choices(
	resource: Resource,
	roles: readonly ResourceRole[],
	holdings: Fragment,
	writeHeld: HeldWriter,
): readonly Fragment[] {
	return [
		...described(
			'Holds one of these roles on the instance',
			roles.map((role) =>
				lines([
					rego`holds_one_of(roles, user, object) if {`,
					rego`	roles${packagePart(role.key)} == null`,
					rego`	${writeHeld(role, rego`user`, rego`object`)}`,
					rego`}`,
				]),
			),
		),
		lines([
			metadata({ title: 'Holds a role on the instance that does not grant the action' }),
			rego`holds_another if {`,
			rego`	roles := data.regolith.schema.other_roles${packagePart(resource.key)}[input.action]`,
			rego`	holds_one_of(roles, ${holdings}, rebac.instance)`,
			rego`}`,
		]),
	];
}

function writeHolds(role: ResourceRole, holdings: Fragment, writeHeld: HeldWriter): Fragment {
	const held = writeHeld(role, holdings, rego`rebac.instance`);
	return lines([objectMetadata(rego`role`, role), rego`holds[${role.key}] if ${held}`]);
}

/** Puts the METADATA block on the first body. */
function described(title: string, [first, ...others]: readonly Fragment[]): readonly Fragment[] {
	return first === undefined ? [] : [lines([metadata({ title }), first]), ...others];
}
