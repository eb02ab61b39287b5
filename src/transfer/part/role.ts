import { type CompleteRole, removeRoles, syncRoles } from '../../domain/schema/role.js';
import { withLinks } from '../../domain/schema/role-record.js';
import { Relation } from '../../store/table/relation.js';
import { Resource, ResourceAction } from '../../store/table/resource.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { rowsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { DerivationEntry, ResourceRoleEntry, RoleEntry } from '../../wire/general/environment-document.js';
import type { DerivedRoleBlockRead } from '../../wire/schema/derivation.js';
import { keyedReaders } from './keyed-readers.js';
import { nestedPart } from './nested.js';
import { type DocumentPart, type Entry, entryNames, mapEntries, type WantedEntry, withoutDefaults } from './part.js';
import { keyResolver, type PartName, partResolver } from './reference.js';

const nothingSaid = { description: null, attributes: null, permissions: [], extends: [], grant_conditions: [] };

/** Tenant roles, with permissions and extended roles. */
export const rolePart: DocumentPart<RoleEntry> = {
	title: 'role',
	member: ['schema', 'roles'],
	scope: ({ name }) => [['roles', name]],
	list: false,
	entriesIn: ({ schema }) => mapEntries(['schema', 'roles'], schema?.roles),
	...keyedReaders(Role, roleEntries, tenantRolesOnly),
	toDocument: (value) => withoutDefaults(value, nothingSaid),
	async write(unit, entries) {
		const roles = entries.map(({ name, ...entry }) => ({ ...entry, key: name, resource: null }));
		await writeRoles(unit, roles);
	},
	async remove(unit, entries) {
		await removeRoles(unit, [...(await rowsWithKeys(unit, Role, entryNames(entries), tenantRolesOnly)).values()]);
	},
};

async function roleEntries(unit: ReadingUnit, rows: readonly Role[]): Promise<readonly Entry<RoleEntry>[]> {
	return (await withLinks(unit, rows)).map(([{ key, name, description, attributes }, links]) => ({
		name: key,
		place: ['schema', 'roles', key],
		value: { name, description, attributes, permissions: links.permissions, extends: links.extends },
	}));
}

/** Resource roles, nested in their resource. */
export const resourceRolePart: DocumentPart<ResourceRoleEntry> = nestedPart<Role, ResourceRoleEntry>({
	table: Role,
	title: 'role',
	member: 'roles',
	entryMap: ({ roles }) => roles,
	toDocument: ({ granted_to, ...value }) => ({
		...withoutDefaults(value, { ...nothingSaid, public: false, grantable_to: [], computed: null }),
		...(granted_to !== null && { granted_to: shownDerivation(granted_to) }),
	}),
	async describe(unit, rows) {
		const linksById = new Map((await withLinks(unit, rows)).map(([{ id }, links]) => [id, links]));
		return ({ id, name, description, attributes, public: isPublic, computed, grant_conditions }) => {
			const { permissions, extends: parents, granted_to, grantable_to = [] } = linksById.get(id) ?? unlinked;
			const derivation = granted_to && derivationEntry(granted_to);
			const links = { permissions, extends: parents, granted_to: derivation, grantable_to };
			const conditions = { grant_conditions: [...grant_conditions] };
			return { name, description, attributes, ...links, public: isPublic, computed, ...conditions };
		};
	},
	async write(unit, entries) {
		const roles = entries.map((entry) => ({ ...entry, exists: entry.row !== undefined }));
		await writeRoles(unit, roles);
	},
	async removeOwned(unit, owned) {
		const ownedRows = owned.map(({ row }) => row);
		await removeRoles(unit, ownedRows);
	},
});

const unlinked = { permissions: [], extends: [], granted_to: null, grantable_to: [] };

function derivationEntry({ users_with_role, when }: DerivedRoleBlockRead): DerivationEntry {
	const rules = users_with_role.map((rule) => {
		const { role, on_resource, linked_by_relation } = rule;
		return { role, on_resource, linked_by_relation, when: rule.when };
	});
	return { users_with_role: rules, when };
}

const always = { when: { no_direct_roles_on_object: false } };

function shownDerivation({ users_with_role, when }: DerivationEntry): object {
	const rules = users_with_role.map((rule) => withoutDefaults(rule, always));
	return withoutDefaults({ users_with_role: rules, when }, { users_with_role: [], ...always });
}

/** A tenant role or resource role to write. */
interface WantedRole extends Pick<WantedEntry<unknown>, 'place' | 'exists'> {
	readonly key: string;
	/** `null` for a tenant role. */
	readonly resource: Resource | null;
	readonly value: RoleEntry &
		Partial<Pick<ResourceRoleEntry, 'granted_to' | 'public' | 'grantable_to' | 'computed' | 'grant_conditions'>>;
}

/**
 * Creates and changes roles, which may refer to each other by key. Creates all roles first, then links them by id.
 * Throws `not_found` for unknown references, `mismatched_relation`, and `unprocessable` for a role that would extend
 * itself and for an unsound computed role.
 */
async function writeRoles(unit: WritingUnit, wanted: readonly WantedRole[]): Promise<void> {
	const withoutLinks = ({ key, place, resource, value }: WantedRole) => {
		const { name, description, attributes, public: isPublic } = value;
		const body = { key, name, description, attributes, public: isPublic };
		return { resource_id: resource?.id ?? null, body, at: ['body', ...place] };
	};
	await syncRoles(unit, wanted.filter(({ exists }) => !exists).map(withoutLinks));
	const resolveLinks = await prepareLinks(unit, wanted);
	await syncRoles(
		unit,
		wanted.map((role) => {
			const { body, ...sync } = withoutLinks(role);
			return { ...sync, body: { ...body, ...resolveLinks(role) } };
		}),
	);
}

type Links = Pick<
	CompleteRole,
	'permissions' | 'extends' | 'granted_to' | 'grantable_to' | 'computed' | 'declared_sets'
>;

/** Returns a function that resolves role links to ids. */
async function prepareLinks(unit: ReadingUnit, wanted: readonly WantedRole[]): Promise<(role: WantedRole) => Links> {
	const rules = wanted.flatMap(derivationRules);
	const roles = wanted.flatMap((role) => role.value.extends.map((key) => ({ resource: ownerKey(role), key })));
	const sources = [...rules.map(({ rule }) => rule), ...wanted.flatMap(({ value }) => value.grantable_to ?? [])].map(
		({ on_resource, role }) => ({ resource: on_resource, key: role }),
	);
	const names = sources.map(({ resource }) => resource);
	const resourceAt = await keyResolver(unit, Resource, names);
	const actionAt = await partResolver(unit, ResourceAction, wanted.flatMap(actionNames));
	const roleAt = await partResolver(unit, Role, [...roles, ...sources]);
	const relationAt = await partResolver(
		unit,
		Relation,
		rules.map(({ resource, rule }) => ({ resource, key: rule.linked_by_relation })),
	);
	return (role) => {
		const { place, value } = role;
		const resource = ownerKey(role);
		const users_with_role = derivationRules(role).map(({ rule, at }) => ({
			when: rule.when,
			on_resource: resourceAt(rule.on_resource, [...at, 'on_resource']).id,
			role: roleAt({ resource: rule.on_resource, key: rule.role }, [...at, 'role']).id,
			linked_by_relation: relationAt({ resource, key: rule.linked_by_relation }, [...at, 'linked_by_relation']).id,
		}));
		const grantable_to = (value.grantable_to ?? []).map((set, index) => {
			const at = [...place, 'grantable_to', index];
			return {
				on_resource: resourceAt(set.on_resource, [...at, 'on_resource']).id,
				role: roleAt({ resource: set.on_resource, key: set.role }, [...at, 'role']).id,
			};
		});
		return {
			grantable_to,
			permissions: actionNames(role).map((name, index) => actionAt(name, [...place, 'permissions', index]).id),
			extends: value.extends.map((key, index) => roleAt({ resource, key }, [...place, 'extends', index]).id),
			granted_to: value.granted_to ? { users_with_role, when: value.granted_to.when } : null,
			computed: value.computed ?? null,
			declared_sets: [...new Set(value.grant_conditions ?? [])],
		};
	};
}

function ownerKey({ resource }: WantedRole): string | null {
	return resource?.key ?? null;
}

/** Returns the names of a role's actions. In a resource role, actions are listed only by key. */
function actionNames({ resource, value }: WantedRole): readonly PartName[] {
	return value.permissions.map((name) => instanceParts(name) ?? { resource: resource?.key ?? null, key: name });
}

function derivationRules({ place, resource, value }: WantedRole) {
	return (value.granted_to?.users_with_role ?? []).map((rule, index) => ({
		rule,
		resource: resource?.key ?? null,
		at: [...place, 'granted_to', 'users_with_role', index],
	}));
}
