/**
 * Uses compiler or OPA errors to find the objects that stop a schema from compiling, and removes these objects. All
 * other changes can then become active.
 */
import type { ConditionType } from './condition/condition.js';
import { type Cycle, declaringRelations, derivationCycles, roleLinks, roleName, withDerivedRoles } from './cycle.js';
import type { Diagnostic } from './diagnostic.js';
import type { ConditionSet, Resource, Schema } from './model.js';
import { userSetsNaming } from './policy/named-roles.js';
import { keyFolder } from './rego/path.js';
import { nobodyHolds } from './role-expression.js';

/** A removable schema object. */
export type BrokenObject =
	| { readonly kind: 'condition_set'; readonly type: ConditionType; readonly key: string }
	/** All condition set rules for an action. */
	| { readonly kind: 'set_rules'; readonly resource: string; readonly action: string }
	/** All derivations of a resource role. The role's assignments stay in effect. */
	| { readonly kind: 'role_derivations'; readonly resource: string; readonly role: string }
	/** A computed role's expression. After its removal, nobody holds the role. */
	| { readonly kind: 'computed_role'; readonly resource: string; readonly role: string }
	| { readonly kind: 'resource'; readonly key: string };

/** Returns the objects behind compiler errors, without duplicates. */
export function brokenByDiagnostics(schema: Schema, diagnostics: readonly Diagnostic[]): readonly BrokenObject[] {
	const errors = diagnostics.filter(({ severity }) => severity === 'error');
	return distinct(errors.flatMap(({ at }) => objectsAt(schema, at)));
}

/**
 * Returns the objects whose generated Rego file is in this list of paths, without duplicates. Ignores the paths of
 * hand-written Rego.
 */
export function brokenByPaths(schema: Schema, paths: readonly string[]): readonly BrokenObject[] {
	const objects = objectsByFolder(schema);
	return distinct(paths.flatMap((path) => objects.get(path.slice(0, path.lastIndexOf('/'))) ?? []));
}

/** Removes these objects, and everything that depends on them, from the schema. */
export function withoutBroken(schema: Schema, broken: readonly BrokenObject[]): Schema {
	const texts = new Set(broken.map(identify));
	const resourceStands = ({ key }: Resource) => !texts.has(identify({ kind: 'resource', key }));
	const kept = new Set(schema.resources.filter(resourceStands).map(({ key }) => key));
	const derived = schema.resources
		.filter(resourceStands)
		.map((resource) => withoutConditions(withoutDerivations(resource, kept, texts), texts));
	const affected = affectedRoles(schema, derived, texts);
	const resources = derived.map((resource) => ({
		...resource,
		roles: resource.roles.map((role) =>
			role.computed !== undefined && affected.has(roleName({ type: resource.key, role: role.key }))
				? { ...role, computed: nobodyHolds }
				: role,
		),
	}));
	const naming = userSetsNaming(schema, affected);
	const sets = remainingSets(
		schema.condition_sets.filter(({ type, key }) => type !== 'userset' || !naming.has(key)),
		kept,
		texts,
	);
	const names = new Set(sets.map(({ type, key }) => `${type} ${key}`));
	const { grant_conditions = [] } = schema;
	const conditions = grant_conditions.filter(
		({ key }) => !texts.has(identify({ kind: 'condition_set', type: 'grant', key })),
	);
	return {
		...(conditions.length > 0 && { grant_conditions: conditions }),
		resources,
		roles: schema.roles.map((role) => ({
			...role,
			permissions: role.permissions.filter(({ resource }) => kept.has(resource)),
		})),
		condition_sets: sets,
		set_rules: schema.set_rules.filter(
			({ user_set, resource_set, resource, action }) =>
				names.has(`userset ${user_set}`) &&
				names.has(`resourceset ${resource_set}`) &&
				kept.has(resource) &&
				!texts.has(identify({ kind: 'set_rules', resource, action })),
		),
	};
}

/**
 * Returns the names of the roles that have lost a derivation, of broken computed roles, and of all roles derived or
 * computed from them. Sets that name such a role are removed, and nobody holds such a computed role: otherwise a set or
 * an expression that excludes the role would include more users.
 */
function affectedRoles(
	schema: Schema,
	remaining: readonly Resource[],
	texts: ReadonlySet<string>,
): ReadonlySet<string> {
	const lost = remaining.flatMap(({ key: type, roles }) => {
		const before = schema.resources.find(({ key }) => key === type)?.roles ?? [];
		return roles
			.filter(
				({ key: role, derivations }, index) =>
					derivations.length !== before[index]?.derivations.length ||
					texts.has(identify({ kind: 'computed_role', resource: type, role })),
			)
			.map(({ key: role }) => roleName({ type, role }));
	});
	return withDerivedRoles(lost, roleLinks(schema));
}

const conditionNouns = { userset: 'user set', resourceset: 'resource set', grant: 'condition' } as const;

/** Returns a human-readable name, such as "user set `adults`". */
export function brokenTitle(object: BrokenObject): string {
	switch (object.kind) {
		case 'condition_set':
			return `${conditionNouns[object.type]} \`${object.key}\``;
		case 'set_rules':
			return `condition set rules of \`${object.resource}:${object.action}\``;
		case 'role_derivations':
			return `derivations of role \`${object.resource}#${object.role}\``;
		case 'computed_role':
			return `computed role \`${object.resource}#${object.role}\``;
		case 'resource':
			return `resource \`${object.key}\``;
	}
}

/** Returns the objects at a diagnostic's location in the schema. */
function objectsAt(schema: Schema, at: readonly string[]): readonly BrokenObject[] {
	const [list, key = '', members, member = '', part, set = ''] = at;
	if (list === 'grant_conditions') return [{ kind: 'condition_set', type: 'grant', key }];
	if (list === 'resources' && part === 'grant_conditions') {
		return [{ kind: 'condition_set', type: 'grant', key: set }];
	}
	if (list === 'condition_sets') {
		return schema.condition_sets
			.filter((set) => set.key === key)
			.map(({ type }): BrokenObject => ({ kind: 'condition_set', type, key }));
	}
	if (list === 'resources') {
		if (members !== 'roles' || (part !== 'derivations' && part !== 'computed')) return [{ kind: 'resource', key }];
		return [{ kind: part === 'computed' ? 'computed_role' : 'role_derivations', resource: key, role: member }];
	}
	return [];
}

/** Maps each folder of generated Rego to the objects in its files. */
function objectsByFolder(schema: Schema): ReadonlyMap<string, readonly BrokenObject[]> {
	const folders = new Map<string, readonly BrokenObject[]>();
	for (const { type, key } of schema.condition_sets) {
		const folder = type === 'userset' ? 'user_sets' : 'resource_sets';
		folders.set(`regolith/${folder}/${keyFolder(key)}`, [{ kind: 'condition_set', type, key }]);
	}
	for (const { key } of schema.grant_conditions ?? []) {
		folders.set(`regolith/grants/${keyFolder(key)}`, [{ kind: 'condition_set', type: 'grant', key }]);
	}
	for (const { resource, action } of schema.set_rules) {
		const folder = `regolith/set_rules/${keyFolder(resource)}/${keyFolder(action)}`;
		folders.set(folder, [{ kind: 'set_rules', resource, action }]);
	}
	for (const [type, relation] of declaringRelations(schema)) {
		const folder = `regolith/conditional_relations/${keyFolder(type)}/${keyFolder(relation)}`;
		folders.set(folder, [{ kind: 'resource', key: type }]);
	}
	for (const { key, roles } of schema.resources) {
		folders.set(`regolith/resources/${keyFolder(key)}`, [{ kind: 'resource', key }]);
		folders.set(`regolith/instances/${keyFolder(key)}`, [{ kind: 'resource', key }]);
		folders.set(`regolith/conditional/${keyFolder(key)}`, [{ kind: 'resource', key }]);
		for (const role of roles) {
			const folder = `regolith/roles/${keyFolder(key)}/${keyFolder(role.key)}`;
			const kind = role.computed === undefined ? 'role_derivations' : 'computed_role';
			folders.set(folder, [{ kind, resource: key, role: role.key }]);
		}
	}
	for (const { members } of derivationCycles(schema)) {
		const [first] = members;
		if (first !== undefined) {
			folders.set(`regolith/cycles/${keyFolder(first.type)}/${keyFolder(first.role)}`, derivationsAround(members));
		}
	}
	return folders;
}

function derivationsAround(members: Cycle['members']): readonly BrokenObject[] {
	return members.map(({ type, role }) => ({ kind: 'role_derivations', resource: type, role }));
}

/** Removes broken derivations, and relations to removed resources. */
function withoutDerivations(resource: Resource, kept: ReadonlySet<string>, texts: ReadonlySet<string>): Resource {
	const relations = resource.relations.filter(({ subject }) => kept.has(subject));
	const known = new Set(relations.map(({ key }) => key));
	return {
		...resource,
		relations,
		roles: resource.roles.map((role) => ({
			...role,
			derivations: texts.has(identify({ kind: 'role_derivations', resource: resource.key, role: role.key }))
				? []
				: role.derivations.filter(({ relation }) => known.has(relation)),
		})),
	};
}

/**
 * Removes broken conditions from the roles and relations that declare them. Assignments and relationships under these
 * conditions then do not count, which never adds access, because sets cannot exclude roles held conditionally.
 */
function withoutConditions(resource: Resource, texts: ReadonlySet<string>): Resource {
	const { roles, relations } = resource;
	if ([...roles, ...relations].every(({ grant_conditions = [] }) => grant_conditions.length === 0)) return resource;
	const sound = (declared: readonly string[]) => {
		const left = declared.filter((key) => !texts.has(identify({ kind: 'condition_set', type: 'grant', key })));
		return left.length > 0 ? { grant_conditions: left } : {};
	};
	return {
		...resource,
		roles: roles.map(({ grant_conditions = [], ...role }) => ({ ...role, ...sound(grant_conditions) })),
		relations: relations.map(({ grant_conditions = [], ...relation }) => ({ ...relation, ...sound(grant_conditions) })),
	};
}

/** Returns the sets without broken sets, sets of removed resources, and sets with a removed ancestor. */
function remainingSets(
	sets: readonly ConditionSet[],
	resources: ReadonlySet<string>,
	texts: ReadonlySet<string>,
): readonly ConditionSet[] {
	let standing = sets.filter(
		({ type, key, resource }) =>
			!texts.has(identify({ kind: 'condition_set', type, key })) && (resource === null || resources.has(resource)),
	);
	for (;;) {
		const names = new Set(standing.map(({ type, key }) => `${type} ${key}`));
		const next = standing.filter(({ type, parent }) => parent === null || names.has(`${type} ${parent}`));
		if (next.length === standing.length) {
			return standing;
		}
		standing = next;
	}
}

function distinct(objects: readonly BrokenObject[]): readonly BrokenObject[] {
	return [...new Map(objects.map((object) => [identify(object), object])).values()];
}

/** Returns a unique string for the object, regardless of the characters in its keys. */
function identify(object: BrokenObject): string {
	switch (object.kind) {
		case 'condition_set':
			return JSON.stringify([object.kind, object.type, object.key]);
		case 'set_rules':
			return JSON.stringify([object.kind, object.resource, object.action]);
		case 'role_derivations':
		case 'computed_role':
			return JSON.stringify([object.kind, roleName({ type: object.resource, role: object.role })]);
		case 'resource':
			return JSON.stringify([object.kind, object.key]);
	}
}
