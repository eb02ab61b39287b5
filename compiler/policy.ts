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
import { type GrantOf, setGrants, writeSetRules } from './set-rule-policy.js';

/**
 * The Rego generated for a schema without errors, sorted by path, as `opa fmt` prints it.
 * Permissions of roles and what they extend are data, so only what exists, its names and derivations change it.
 */
export function writePolicy(schema: Schema): readonly RegoFile[] {
	const graph = graphOf(schema);
	const grantOf = setGrants(schema);
	const files = schema.resources.flatMap((resource) => [
		writeResource(resource, grantOf),
		...(resource.roles.length === 0 ? [] : [writeInstances(resource)]),
		...resource.roles.map((role) => writeRole(graph, resource, role)),
	]);
	const conditional = graph.circles.filter((circle) => circle.conditional);
	const circles = conditional.map((circle) => writeCircle(graph, circle));
	const sets = schema.condition_sets.map(writeConditionSet);
	return sortedBy([...files, ...circles, ...sets, ...writeSetRules(schema)], (file) => file.path);
}

function writeResource(resource: Resource, grantOf: GrantOf): RegoFile {
	const actions = sortedBy(resource.actions, (action) => action.key);
	const models = resource.roles.length === 0 ? [rego`rbac`] : [rego`rbac`, rego`rebac`];
	return regoFile(`regolith/resources/${folderOf(resource.key)}/permits.rego`, [
		lines([objectMetadata(rego`resource`, resource), rego`package regolith.resources${packagePart(resource.key)}`]),
		...(actions.length === 0 ? [] : [lines(models.map((model) => rego`import data.regolith.${model}`))]),
		...actions.flatMap((action) => {
			const bySets = grantOf(resource.key, action.key);
			const grants = models.map((model) => rego`${model}.granted`);
			return writeAction(action, bySets === undefined ? grants : [...grants, bySets]);
		}),
	]);
}

/** The bodies of one rule: the first one carries the block. */
function writeAction(action: Action, grants: readonly Fragment[]): readonly Fragment[] {
	const [first = rego``, ...others] = grants.map((grant) => rego`permits[${action.key}] if ${grant}`);
	return [lines([objectMetadata(rego`action`, action), first]), ...others];
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
