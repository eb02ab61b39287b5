import { Relation } from '../store/table/relation.js';
import { Resource, ResourceAction } from '../store/table/resource.js';
import { ofTenants, Role } from '../store/table/role.js';
import type { ReadingUnit, WritingUnit } from '../store/unit.js';
import { rowsWithKeys } from '../store/whole.js';
import { instanceParts } from '../wire/common.js';
import type { DerivedRoleBlockRead } from '../wire/derivation.js';
import type { DerivationEntry, ResourceRoleEntry, RoleEntry } from '../wire/environment-document.js';
import { removeRoles, syncRoles, type WholeRole } from './role.js';
import { withLinks } from './role-record.js';
import { nestedPart } from './transfer-nested.js';
import {
	type Entry,
	entriesOfMap,
	namesIn,
	type Part,
	rowsByKey,
	valuesOf,
	type Written,
	without,
} from './transfer-part.js';
import { type PartName, referencesTo, referencesToParts } from './transfer-reference.js';

/** Roles of both kinds. */

const nothingSaid = { description: null, attributes: null, permissions: [], extends: [] };

/** Tenant roles, each with its permissions and with the roles it extends. */
export const rolePart: Part<RoleEntry> = {
	title: 'role',
	member: ['schema', 'roles'],
	scope: ({ name }) => [['roles', name]],
	list: false,
	entriesOf: ({ schema }) => entriesOfMap(['schema', 'roles'], schema?.roles),
	async *portions(unit) {
		for await (const rows of rowsByKey(unit, Role, ofTenants)) yield roleEntries(unit, rows);
	},
	async held(unit, entries) {
		const rows = await rowsWithKeys(unit, Role, namesIn(entries), ofTenants);
		return valuesOf(await roleEntries(unit, [...rows.values()]));
	},
	shown: (value) => without(value, nothingSaid),
	async write(unit, entries) {
		await writeRoles(
			unit,
			entries.map(({ name, ...entry }) => ({ ...entry, key: name, resource: null })),
		);
	},
	async remove(unit, entries) {
		await removeRoles(unit, [...(await rowsWithKeys(unit, Role, namesIn(entries), ofTenants)).values()]);
	},
};

async function roleEntries(unit: ReadingUnit, rows: readonly Role[]): Promise<readonly Entry<RoleEntry>[]> {
	return (await withLinks(unit, rows)).map(([{ key, name, description, attributes }, links]) => ({
		name: key,
		place: ['schema', 'roles', key],
		value: { name, description, attributes, permissions: links.permissions, extends: links.extends },
	}));
}

/** Roles of resources, inside of their resource. */
export const resourceRolePart: Part<ResourceRoleEntry> = nestedPart<Role, ResourceRoleEntry>({
	table: Role,
	title: 'role',
	member: 'roles',
	mapOf: ({ roles }) => roles,
	shown: ({ granted_to, ...value }) => ({
		...without(value, nothingSaid),
		...(granted_to !== null && { granted_to: shownDerivation(granted_to) }),
	}),
	async describe(unit, rows) {
		const linksOf = new Map((await withLinks(unit, rows)).map(([{ id }, links]) => [id, links]));
		return ({ id, name, description, attributes }) => {
			const { permissions, extends: parents, granted_to } = linksOf.get(id) ?? unlinked;
			const derivation = granted_to && derivationOf(granted_to);
			return { name, description, attributes, permissions, extends: parents, granted_to: derivation };
		};
	},
	async write(unit, entries) {
		await writeRoles(
			unit,
			entries.map((entry) => ({ ...entry, exists: entry.row !== undefined })),
		);
	},
	async removeOwned(unit, owned) {
		await removeRoles(
			unit,
			owned.map(({ row }) => row),
		);
	},
});

const unlinked = { permissions: [], extends: [], granted_to: null };

function derivationOf({ users_with_role, when }: DerivedRoleBlockRead): DerivationEntry {
	const rules = users_with_role.map((rule) => {
		const { role, on_resource, linked_by_relation } = rule;
		return { role, on_resource, linked_by_relation, when: rule.when };
	});
	return { users_with_role: rules, when };
}

const always = { when: { no_direct_roles_on_object: false } };

function shownDerivation({ users_with_role, when }: DerivationEntry): object {
	const rules = users_with_role.map((rule) => without(rule, always));
	return without({ users_with_role: rules, when }, { users_with_role: [], ...always });
}

/** A role to be written, with all that is said of a role of either kind. */
interface WantedRole extends Pick<Written<unknown>, 'place' | 'exists'> {
	readonly key: string;
	/** `null` for a tenant role. */
	readonly resource: Resource | null;
	readonly value: Omit<ResourceRoleEntry, 'granted_to'> & Partial<Pick<ResourceRoleEntry, 'granted_to'>>;
}

/**
 * Creates and changes roles, which may name each other, by keys: when all of them are there, they are linked, by ids.
 * Throws `not_found` for what they name, `mismatched_relation`, `unprocessable` for a role that would extend itself.
 */
async function writeRoles(unit: WritingUnit, wanted: readonly WantedRole[]): Promise<void> {
	const withoutLinks = ({ key, place, resource, value: { name, description, attributes } }: WantedRole) => {
		return { resource_id: resource?.id ?? null, body: { key, name, description, attributes }, at: ['body', ...place] };
	};
	await syncRoles(unit, wanted.filter(({ exists }) => !exists).map(withoutLinks));
	const linksOf = await linker(unit, wanted);
	await syncRoles(
		unit,
		wanted.map((role) => {
			const { body, ...sync } = withoutLinks(role);
			return { ...sync, body: { ...body, ...linksOf(role) } };
		}),
	);
}

type Links = Pick<WholeRole, 'permissions' | 'extends' | 'granted_to'>;

/** What finds the ids of all that roles are linked to. */
async function linker(unit: ReadingUnit, wanted: readonly WantedRole[]): Promise<(role: WantedRole) => Links> {
	const rules = wanted.flatMap(rulesOf);
	const roles = wanted.flatMap((role) => role.value.extends.map((key) => ({ resource: ownerOf(role), key })));
	const sources = rules.map(({ rule }) => ({ resource: rule.on_resource, key: rule.role }));
	const resourceAt = await referencesTo(
		unit,
		Resource,
		sources.map(({ resource }) => resource),
	);
	const actionAt = await referencesToParts(unit, ResourceAction, wanted.flatMap(actionsOf));
	const roleAt = await referencesToParts(unit, Role, [...roles, ...sources]);
	const relationAt = await referencesToParts(
		unit,
		Relation,
		rules.map(({ resource, rule }) => ({ resource, key: rule.linked_by_relation })),
	);
	return (role) => {
		const { place, value } = role;
		const resource = ownerOf(role);
		const users_with_role = rulesOf(role).map(({ rule, at }) => ({
			when: rule.when,
			on_resource: resourceAt(rule.on_resource, [...at, 'on_resource']).id,
			role: roleAt({ resource: rule.on_resource, key: rule.role }, [...at, 'role']).id,
			linked_by_relation: relationAt({ resource, key: rule.linked_by_relation }, [...at, 'linked_by_relation']).id,
		}));
		return {
			permissions: actionsOf(role).map((name, index) => actionAt(name, [...place, 'permissions', index]).id),
			extends: value.extends.map((key, index) => roleAt({ resource, key }, [...place, 'extends', index]).id),
			granted_to: value.granted_to ? { users_with_role, when: value.granted_to.when } : null,
		};
	};
}

function ownerOf({ resource }: WantedRole): string | null {
	return resource?.key ?? null;
}

/** A role of a resource names its actions by their keys alone. */
function actionsOf({ resource, value }: WantedRole): readonly PartName[] {
	return value.permissions.map((name) => instanceParts(name) ?? { resource: resource?.key ?? null, key: name });
}

function rulesOf({ place, resource, value }: WantedRole) {
	return (value.granted_to?.users_with_role ?? []).map((rule, index) => ({
		...{ rule, resource: resource?.key ?? null },
		at: [...place, 'granted_to', 'users_with_role', index],
	}));
}
