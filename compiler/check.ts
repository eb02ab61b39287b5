/** What is wrong with a schema: every finding at once, each with its place, in a stable order. */
import { cyclesOf } from './grant.js';
import type { Permission, Resource, Role, Schema } from './model.js';
import { sortedBy } from './order.js';

/** Every code a diagnostic can have, and how bad it is. Codes are stable; messages may change. */
const severities = {
	/** Two objects of one kind have one key. */
	duplicate_key: 'error',
	/** A key is empty or holds characters other than ASCII. */
	malformed_key: 'error',
	/** A permission names a resource type that does not exist. */
	unknown_resource: 'error',
	/** A permission names an action that does not exist on its resource type. */
	unknown_action: 'error',
	/** A role extends a role that does not exist. */
	unknown_role: 'error',
	/** Roles extend each other in a circle. */
	role_cycle: 'error',
	/** A role lists a permission, or a role that it extends, more than once; it counts once. */
	repeated: 'warning',
} as const satisfies Record<string, 'error' | 'warning'>;

/** The stable name of a finding. */
export type DiagnosticCode = keyof typeof severities;

/** One finding about a schema. A model with an error is not compiled; a warning is only told. */
export interface Diagnostic {
	readonly code: DiagnosticCode;
	/** One line of prose; keys stand in backquotes. */
	readonly message: string;
	/** The keys from the schema's root, such as `['roles', 'editor', 'permissions', 'document:read']`. */
	readonly at: readonly string[];
	readonly severity: 'error' | 'warning';
}

/** Finds everything that is wrong with a schema, sorted by place. Throws nothing. */
export function check(schema: Schema): readonly Diagnostic[] {
	const findings = [
		...checkKeys(schema),
		...checkPermissions(schema),
		...checkExtends(schema.roles),
		...checkCycles(schema.roles),
	];
	const distinct = new Map(findings.map((diagnostic) => [sortKey(diagnostic), diagnostic]));
	return sortedBy([...distinct], ([key]) => key).map(([, diagnostic]) => diagnostic);
}

function checkKeys({ resources, roles }: Schema): readonly Diagnostic[] {
	return [
		...keyProblems(['resources'], resources),
		...resources.flatMap((resource) => keyProblems(['resources', resource.key, 'actions'], resource.actions)),
		...keyProblems(['roles'], roles),
	];
}

/**
 * Keys stand in Rego as parts of package paths. What `opa fmt` prints there beyond ASCII depends on the version of
 * Unicode that it was built with, and control characters come out as escapes that Rego does not read.
 */
const printable = /^[ -~\b\t\n\f\r]+$/;

function keyProblems(parent: readonly string[], objects: readonly { readonly key: string }[]): readonly Diagnostic[] {
	const keys = objects.map((object) => object.key);
	return [
		...keys
			.filter((key) => !printable.test(key))
			.map((key) => finding('malformed_key', [...parent, key], `the key ${tick(key)} is empty or not printable ASCII`)),
		...repeated(keys).map((key) =>
			finding('duplicate_key', [...parent, key], `the key ${tick(key)} is used more than once`),
		),
	];
}

function checkPermissions({ resources, roles }: Schema): readonly Diagnostic[] {
	const actions = actionTable(resources);
	return roles.flatMap((role) => [
		...role.permissions.flatMap((permission) => unknownPermission(role, permission, actions)),
		...repeated(role.permissions.map(nameOf)).map((name) =>
			finding('repeated', permissionPlace(role, name), `role ${tick(role.key)} lists ${tick(name)} more than once`),
		),
	]);
}

type ActionTable = ReadonlyMap<string, ReadonlySet<string>>;

/** Resources of one key, an error told elsewhere, count as one here. */
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
	const place = permissionPlace(role, nameOf(permission));
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

function checkExtends(roles: readonly Role[]): readonly Diagnostic[] {
	const known = new Set(roles.map((role) => role.key));
	return roles.flatMap((role) => [
		...role.extends
			.filter((key) => !known.has(key))
			.map((key) => finding('unknown_role', ['roles', role.key, 'extends', key], `role ${tick(key)} does not exist`)),
		...repeated(role.extends).map((key) =>
			finding(
				'repeated',
				['roles', role.key, 'extends', key],
				`role ${tick(role.key)} extends ${tick(key)} more than once`,
			),
		),
	]);
}

function checkCycles(roles: readonly Role[]): readonly Diagnostic[] {
	return cyclesOf(roles).map((chain) => {
		const [first = ''] = chain;
		const circle = [...chain, first].map(tick).join(' extends ');
		return finding('role_cycle', ['roles', first, 'extends'], `roles extend each other in a circle: ${circle}`);
	});
}

function finding(code: DiagnosticCode, at: readonly string[], message: string): Diagnostic {
	return { code, message, at, severity: severities[code] };
}

/** Those that occur more than once, each named once. */
function repeated(keys: readonly string[]): readonly string[] {
	const seen = new Set<string>();
	const twice = new Set<string>();
	for (const key of keys) {
		(seen.has(key) ? twice : seen).add(key);
	}
	return [...twice];
}

function nameOf({ resource, action }: Permission): string {
	return `${resource}:${action}`;
}

/** A key inside a message. */
function tick(key: string): string {
	return `\`${key}\``;
}

function sortKey({ at, code, message }: Diagnostic): string {
	return JSON.stringify([at, code, message]);
}
