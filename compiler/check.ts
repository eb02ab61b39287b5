/** Checks a schema. Reports all findings together, each with its location, in a stable order. */

import { checkComputedLinks, checkComputedRoles } from './computed-check.js';
import { type Diagnostic, finding, keyProblems, repeated, tick } from './diagnostic.js';
import { checkGrantConditions } from './grant-check.js';
import type { Derivation, Permission, Resource, ResourceRole, Role, Schema } from './model.js';
import { sortedBy } from './order.js';
import { type Extending, extendsCycles } from './policy/grant.js';
import { checkSets } from './set-check.js';

/** Returns all findings, sorted by location. Never throws. */
export function check(schema: Schema): readonly Diagnostic[] {
	// If several resources have the same key, use the first. The duplicate key is a separate finding.
	const byKey = new Map(schema.resources.toReversed().map((resource) => [resource.key, resource]));
	const findings = [
		...checkKeys(schema),
		...checkPermissions(schema),
		...checkExtends(['roles'], schema.roles),
		...checkCycles(['roles'], schema.roles),
		...schema.resources.flatMap((resource) => checkResource(resource, byKey)),
		...checkComputedLinks(schema),
		...checkSets(schema),
		...checkGrantConditions(schema),
	];
	const distinct = new Map(findings.map((diagnostic) => [sortKey(diagnostic), diagnostic]));
	return sortedBy([...distinct], ([key]) => key).map(([, diagnostic]) => diagnostic);
}

function checkKeys({ resources, roles }: Schema): readonly Diagnostic[] {
	return [
		...keyProblems(['resources'], resources),
		...resources.flatMap((resource) => [
			...keyProblems(['resources', resource.key, 'actions'], resource.actions),
			...keyProblems(['resources', resource.key, 'roles'], resource.roles),
			...keyProblems(['resources', resource.key, 'relations'], resource.relations),
			...(resource.key.includes(':')
				? [finding('malformed_key', ['resources', resource.key], `the key ${tick(resource.key)} contains a colon`)]
				: []),
		]),
		...keyProblems(['roles'], roles),
	];
}

function checkPermissions({ resources, roles }: Schema): readonly Diagnostic[] {
	const actions = actionTable(resources);
	return roles.flatMap((role) => [
		...role.permissions.flatMap((permission) => unknownPermission(role, permission, actions)),
		...repeated(role.permissions.map(permissionName)).map((name) =>
			finding('repeated', permissionPlace(role, name), `role ${tick(role.key)} lists ${tick(name)} more than once`),
		),
	]);
}

type ActionTable = ReadonlyMap<string, ReadonlySet<string>>;

/** Merges resources with the same key. The duplicate key is a separate finding. */
function actionTable(resources: readonly Resource[]): ActionTable {
	const table = new Map<string, Set<string>>(resources.map((resource) => [resource.key, new Set()]));
	for (const resource of resources) {
		for (const action of resource.actions) {
			table.get(resource.key)?.add(action.key);
		}
	}
	return table;
}

function unknownPermission(role: Role, permission: Permission, actions: ActionTable): readonly Diagnostic[] {
	const { resource, action } = permission;
	const place = permissionPlace(role, permissionName(permission));
	const known = actions.get(resource);
	if (known === undefined) {
		return [finding('unknown_resource', place, `resource type ${tick(resource)} does not exist`)];
	}
	return known.has(action)
		? []
		: [finding('unknown_action', place, `action ${tick(action)} does not exist on resource type ${tick(resource)}`)];
}

function permissionPlace(role: Role, name: string): readonly string[] {
	return ['roles', role.key, 'permissions', name];
}

function checkExtends(parent: readonly string[], roles: readonly Extending[]): readonly Diagnostic[] {
	const known = new Set(roles.map((role) => role.key));
	return roles.flatMap((role) => [
		...role.extends
			.filter((key) => !known.has(key))
			.map((key) => finding('unknown_role', [...parent, role.key, 'extends', key], `role ${tick(key)} does not exist`)),
		...repeated(role.extends).map((key) =>
			finding(
				'repeated',
				[...parent, role.key, 'extends', key],
				`role ${tick(role.key)} extends ${tick(key)} more than once`,
			),
		),
	]);
}

function checkCycles(parent: readonly string[], roles: readonly Extending[]): readonly Diagnostic[] {
	return extendsCycles(roles).map((chain) => {
		const [first = ''] = chain;
		const cycle = [...chain, first].map(tick).join(' extends ');
		return finding('role_cycle', [...parent, first, 'extends'], `roles extend each other in a cycle: ${cycle}`);
	});
}

/** Checks a resource type's roles and relations. Circular derivations are allowed. */
function checkResource(resource: Resource, byKey: ReadonlyMap<string, Resource>): readonly Diagnostic[] {
	const place = ['resources', resource.key];
	return [
		...resource.relations
			.filter(({ subject }) => !byKey.has(subject))
			.map(({ key, subject }) =>
				finding('unknown_resource', [...place, 'relations', key], `resource type ${tick(subject)} does not exist`),
			),
		...resource.roles.flatMap((role) => [
			...checkActions(resource, role),
			...role.derivations.flatMap((derivation) => checkDerivation(resource, role, derivation, byKey)),
		]),
		...checkExtends([...place, 'roles'], resource.roles),
		...checkCycles([...place, 'roles'], resource.roles),
		...checkComputedRoles(resource),
	];
}

function checkActions(resource: Resource, role: ResourceRole): readonly Diagnostic[] {
	const place = ['resources', resource.key, 'roles', role.key, 'permissions'];
	const known = new Set(resource.actions.map(({ key }) => key));
	return [
		...role.permissions
			.filter((action) => !known.has(action))
			.map((action) =>
				finding(
					'unknown_action',
					[...place, action],
					`action ${tick(action)} does not exist on resource type ${tick(resource.key)}`,
				),
			),
		...repeated(role.permissions).map((action) =>
			finding('repeated', [...place, action], `role ${tick(role.key)} lists ${tick(action)} more than once`),
		),
	];
}

function checkDerivation(
	resource: Resource,
	role: ResourceRole,
	derivation: Derivation,
	byKey: ReadonlyMap<string, Resource>,
): readonly Diagnostic[] {
	const place = ['resources', resource.key, 'roles', role.key, 'derivations', derivation.relation, derivation.role];
	const relation = resource.relations.find(({ key }) => key === derivation.relation);
	if (relation === undefined) {
		const message = `resource type ${tick(resource.key)} has no relation ${tick(derivation.relation)}`;
		return [finding('unknown_relation', place, message)];
	}
	const subject = byKey.get(relation.subject);
	const source = subject?.roles.find(({ key }) => key === derivation.role);
	if (subject === undefined || source !== undefined) {
		return [];
	}
	const message = `resource type ${tick(relation.subject)} has no role ${tick(derivation.role)}`;
	return [finding('unknown_role', place, message)];
}

function permissionName({ resource, action }: Permission): string {
	return `${resource}:${action}`;
}

function sortKey({ at, code, message }: Diagnostic): string {
	return JSON.stringify([at, code, message]);
}
