/** Generates tests for `opa test`. They state the schema a second time and check the policy against this statement. */
import { type ComputedRole, computedRoles, derivationEdges, type Edge, type RoleName, roleName } from '../cycle.js';
import { groupBy } from '../group-by.js';
import type { Permission, RegoFile, Resource, ResourceRole, Role, Schema } from '../model.js';
import { canonical, sortedBy } from '../order.js';
import { writeFormula } from '../policy/computed-policy.js';
import { metadata } from '../policy/metadata.js';
import { regoFile } from '../policy/rego-file.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { type Items, keySet, type Members, type Table, table } from '../rego/table.js';
import { roleAlternatives } from '../role-alternatives.js';
import { roleFormula } from '../role-expression.js';
import {
	actionTests,
	checking,
	computedTests,
	derivationTests,
	resourceRoleTests,
	type TestSection,
	tenantRoleTests,
} from './test-rules.js';
import { setSection } from './test-sets.js';

/**
 * Writes the tests for a schema without errors, in `opa fmt` layout: a file to use together with the policy, the
 * hand-written Rego and a data document. Its size is linear in the size of the schema. The file contains no compiler
 * results: `extends` and derivations appear as entered, and the tests resolve them.
 */
export function writeTests(schema: Schema): readonly RegoFile[] {
	const sections = testSections(schema);
	return [
		regoFile('regolith/schema_test.rego', [
			lines([metadata(about), rego`package regolith.schema_test`]),
			...testImports(schema),
			...sections.map((section) => section.table),
			...sections.flatMap((section) => section.tests),
			...(schema.resources.length === 0 ? [] : checking),
			...sections.flatMap((section) => section.helpers),
		]),
	];
}

const about = {
	title: 'Tests of the schema',
	description:
		'Generated tests of the schema. They compare the policy and its data with the schema, for made-up facts.',
};

function testImports({ resources }: Schema): readonly Fragment[] {
	const used = [
		...(resources.length > 0 ? [rego`import data.regolith.check`] : []),
		...(resources.some(({ roles }) => roles.length > 0) ? [rego`import data.regolith.rebac`] : []),
	];
	return used.length === 0 ? [] : [lines(used)];
}

/**
 * Returns a section for each kind of object in the schema. Absent kinds have no section, because `opa` reports rules
 * that iterate over nothing as errors.
 */
function testSections(schema: Schema): readonly TestSection[] {
	const resources = sortedBy(schema.resources, ({ key }) => key);
	const roles = sortedBy(schema.roles, ({ key }) => key);
	const withRoles = resources.filter((resource) => resource.roles.length > 0);
	const edges = derivationEdges(schema);
	const computed = withRoles.filter(({ roles }) => roles.some((role) => role.computed !== undefined));
	const computes = computed.length > 0;
	const sources = computedRoles(schema).filter(({ target }) => edges.some(({ source }) => isSameRole(source, target)));
	const derived = withRoles.filter(({ key }) => edges.some(({ target }) => target.type === key));
	return [
		{
			...actionTests(objectKeys(resources.filter(({ actions }) => actions.length > 0))),
			table: commentedTable(rego`actions`, actionsComment, resources, actionKeys),
		},
		...(resources.length === 0 || roles.length === 0
			? []
			: [
					{
						...tenantRoleTests(objectKeys(resources)),
						table: commentedTable(rego`tenant_roles`, tenantRolesComment, roles, tenantRole),
					},
				]),
		...(withRoles.length === 0
			? []
			: [
					{
						...resourceRoleTests(objectKeys(withRoles), computes),
						table: commentedTable(rego`resource_roles`, resourceRolesComment, withRoles, resourceRoles),
					},
				]),
		...(computes ? [computedSection(computed)] : []),
		...(derived.length === 0
			? []
			: [
					{
						...derivationTests(objectKeys(derived), computes, sources.length > 0),
						table: commentedTable(rego`derivations`, derivationsComment, derived, ({ key }) => derivations(edges, key)),
					},
				]),
		...(sources.length === 0 ? [] : [{ tests: [], helpers: [], table: assignedRoles(schema, sources) }]),
		...(schema.condition_sets.length === 0 ? [] : [setSection(schema)]),
	];
}

function isSameRole(left: RoleName, right: RoleName): boolean {
	return roleName(left) === roleName(right);
}

/**
 * Writes the table of roles that tests assign to give a user a computed role from which roles are derived: the required
 * roles of the first alternative.
 */
function assignedRoles({ resources }: Schema, sources: readonly ComputedRole[]): Fragment {
	const byType = groupBy(sources, ({ target }) => target.type);
	const rows = sortedBy([...byType.keys()], (type) => type).map((key) => ({ key, own: byType.get(key) ?? [] }));
	return commentedTable(rego`assigned_roles`, assignedComment, rows, ({ key, own }) => ({
		members: sortedBy(own, ({ target }) => target.role).map(({ target, computed }) => {
			const roles = resources.find((resource) => resource.key === key)?.roles ?? [];
			const expressionOf = (role: string) => roles.find((other) => other.key === role)?.computed;
			const [alternative] = roleAlternatives(roleFormula(computed), expressionOf);
			return [target.role, keySet(canonical(alternative?.required ?? []))];
		}),
	}));
}

/** Returns the section for computed roles, with a function for each expression. */
function computedSection(resources: readonly Resource[]): TestSection {
	const { tests, helpers } = computedTests(objectKeys(resources));
	const computed = resources.flatMap(({ key: type, roles }) =>
		sortedBy(roles, ({ key }) => key).flatMap(({ key: role, computed: expression }) =>
			expression === undefined ? [] : [{ type, role, expression }],
		),
	);
	const names = new Map(computed.map((one, index) => [roleName(one), new Fragment(`computed_${index + 1}`)]));
	const functions = computed.flatMap(({ type, role, expression }, index) => {
		const name = `computed_${index + 1}`;
		return [
			rego`computed(${type}, ${role}, roles) if ${new Fragment(name)}(roles)`,
			...writeFormula(roleFormula(expression), {
				name,
				helper: `${name}_any`,
				parameters: ['roles'],
				writeRole: ({ role: operand }) => {
					const called = names.get(roleName({ type, role: operand }));
					return called === undefined ? rego`${operand} in roles` : rego`${called}(roles)`;
				},
			}),
		];
	});
	const keys = (resource: Resource) =>
		keySet(
			canonical(resource.roles.flatMap(({ key, computed: expression }) => (expression === undefined ? [] : [key]))),
		);
	return {
		tests,
		helpers: [...helpers, ...functions],
		table: commentedTable(rego`computed_roles`, computedComment, resources, keys),
	};
}

const computedComment = rego`# Roles on instances that follow from other roles on the same instance, by resource type.`;
const assignedComment = rego`# Roles by which a user holds a computed role from which roles are derived, by resource type.`;
const actionsComment = rego`# Resource types and their actions.`;
const tenantRolesComment = rego`# Tenant roles: their own permissions, by resource type, and the roles they extend.`;
const resourceRolesComment = rego`# Roles on instances, by resource type: their own permissions, and the roles they extend.`;
const derivationsComment = rego`# Derivations, by resource type: a holder of the role "source" on a "subject" related to an object holds the role "role"
# on the object. With "no_direct_roles_on_object", a role assigned on the object disables the derivation.`;

function objectKeys(things: readonly { readonly key: string }[]): readonly string[] {
	return things.map(({ key }) => key);
}

/** Writes a table below its comment. */
function commentedTable<T extends { readonly key: string }>(
	name: Fragment,
	comment: Fragment,
	rows: readonly T[],
	writeRow: (row: T) => Table,
): Fragment {
	const value = table({ members: rows.map((row) => [row.key, writeRow(row)]) });
	return lines([comment, rego`${name} := ${value}`]);
}

function actionKeys({ actions }: Resource): Fragment {
	return keySet(canonical(actions.map(({ key }) => key)));
}

function tenantRole(role: Role): Members {
	return {
		members: [
			['extends', keySet(canonical(role.extends))],
			['permissions', permissionsByType(role.permissions)],
		],
	};
}

function permissionsByType(permissions: readonly Permission[]): Members {
	const byType = new Map<string, string[]>();
	for (const { resource, action } of permissions) {
		const actions = byType.get(resource) ?? [];
		byType.set(resource, actions);
		actions.push(action);
	}
	return { members: canonical(byType.keys()).map((type) => [type, keySet(canonical(byType.get(type) ?? []))]) };
}

function resourceRoles({ roles }: Resource): Members {
	return { members: sortedBy(roles, ({ key }) => key).map((role) => [role.key, resourceRole(role)]) };
}

function resourceRole(role: ResourceRole): Members {
	return {
		members: [
			['extends', keySet(canonical(role.extends))],
			['permissions', keySet(canonical(role.permissions))],
		],
	};
}

function derivations(edges: readonly Edge[], type: string): Items {
	return { items: edges.filter(({ target }) => target.type === type).map(derivation) };
}

function derivation({ target, relation, source, no_direct_roles_on_object }: Edge): Members {
	return {
		members: [
			['role', rego`${target.role}`],
			['relation', rego`${relation}`],
			['subject', rego`${source.type}`],
			['source', rego`${source.role}`],
			['no_direct_roles_on_object', no_direct_roles_on_object ? rego`true` : rego`false`],
		],
	};
}
