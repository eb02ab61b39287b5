/** The schema as Rego: a package for each resource type with a rule for each action, for each role and condition set. */
import { graphOf } from './circle.js';
import { writeCircle } from './circle-policy.js';
import { objectMetadata } from './metadata.js';
import type { Action, RegoFile, Resource, ResourceRole, Schema } from './model.js';
import { sortedBy } from './order.js';
import { folderOf, packagePart } from './rego/path.js';
import { type Fragment, lines, rego } from './rego/rego.js';
import { regoFile } from './rego-file.js';
import { writeRole } from './role-policy.js';
import { writeConditionSet } from './set-policy.js';

/**
 * The Rego generated for a schema without errors, sorted by path, as `opa fmt` prints it.
 * Permissions of roles and what they extend are data, so only what exists, its names and derivations change it.
 */
export function writePolicy(schema: Schema): readonly RegoFile[] {
	const graph = graphOf(schema);
	const conditions = schema.condition_sets.length > 0;
	const files = schema.resources.flatMap((resource) => [
		writeResource(resource, conditions),
		...(resource.roles.length === 0 ? [] : [writeInstances(resource)]),
		...resource.roles.map((role) => writeRole(graph, resource, role)),
	]);
	const conditional = graph.circles.filter((circle) => circle.conditional);
	const circles = conditional.map((circle) => writeCircle(graph, circle));
	return sortedBy([...files, ...circles, ...schema.condition_sets.flatMap(writeConditionSet)], (file) => file.path);
}

/** @param conditions whether the environment has any condition sets: which of them count for an action is data. */
function writeResource(resource: Resource, conditions: boolean): RegoFile {
	const actions = sortedBy(resource.actions, (action) => action.key);
	const models = [
		...(conditions ? [rego`abac`] : []),
		rego`rbac`,
		...(resource.roles.length === 0 ? [] : [rego`rebac`]),
	];
	return regoFile(`regolith/resources/${folderOf(resource.key)}/permits.rego`, [
		lines([objectMetadata(rego`resource`, resource), rego`package regolith.resources${packagePart(resource.key)}`]),
		...(actions.length === 0 ? [] : [lines(models.map((model) => rego`import data.regolith.${model}`))]),
		...actions.flatMap((action) => models.map((model, index) => writeAction(action, model, index === 0))),
	]);
}

/** The bodies of one rule: the first one carries the block. */
function writeAction(action: Action, model: Fragment, first: boolean): Fragment {
	const rule = rego`permits[${action.key}] if ${model}.granted`;
	return first ? lines([objectMetadata(rego`action`, action), rule]) : rule;
}

/**
 * Which role is held is asked by its key, and only rules can be asked so: the functions are elsewhere. Each rule has an
 * answer for who does not hold the role, too: it is kept for the rest of the check, and what is undefined is not.
 */
function writeInstances(resource: Resource): RegoFile {
	const part = packagePart(resource.key);
	const roles = sortedBy(resource.roles, (role) => role.key);
	return regoFile(`regolith/instances/${folderOf(resource.key)}/holds.rego`, [
		rego`package regolith.instances${part}`,
		rego`import data.regolith.rebac`,
		...roles.map((role) => writeHolds(part, role)),
	]);
}

function writeHolds(part: Fragment, role: ResourceRole): Fragment {
	const held = rego`data.regolith.roles${part}${packagePart(role.key)}.held`;
	return lines([
		objectMetadata(rego`role`, role),
		rego`holds[${role.key}] if {`,
		rego`	${held}(rebac.holdings, rebac.instance)`,
		rego`} else := false`,
	]);
}
