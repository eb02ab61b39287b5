import type { PolicyFile } from '../policy/rego-lines.js';
import { type RegoValue, regoText } from '../policy/rego-value.js';
import { type Attempt, placeTenant, roleKey, splitInstance } from './attempt.js';
import type { CheckBody } from './check-form.js';

/**
 * A check as a test for `opa test`. The user saves the test beside the downloaded policy. The test includes its facts,
 * so it states the intent behind the schema and does not depend on stored data.
 */

/** Role assignment in a test. */
interface TestAssignment {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
	/** Instance, as `<type>:<key>`; `null` for a role in the tenant. */
	readonly instance: string | null;
}

/** Relationship between instances. */
interface TestRelationship {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

export interface TestFacts {
	/** True if the user exists. */
	readonly user: boolean;
	/** Stored attributes of the tenant in the check; `null` if the tenant does not exist. */
	readonly tenant: Readonly<Record<string, unknown>> | null;
	/** Tenants, keyed by instance. */
	readonly instances: ReadonlyMap<string, string>;
	readonly assignments: readonly TestAssignment[];
	readonly relationships: readonly TestRelationship[];
	readonly userAttributes: Readonly<Record<string, unknown>>;
	readonly instanceAttributes: Readonly<Record<string, unknown>>;
}

/** Role derivation, in the format of the policy tables. */
interface Derivation {
	readonly relation: string;
	/** Subject type. */
	readonly resource: string;
	readonly role: string;
	readonly no_direct_roles_on_object?: boolean;
}

/** Derivations, keyed by resource type and role. */
export type Derivations = Readonly<Record<string, Readonly<Record<string, readonly Derivation[]>>>>;

/** Content of a test. */
export interface OpaTest {
	readonly check: CheckBody;
	readonly allow: boolean;
	readonly facts: TestFacts;
	readonly derivations: Derivations;
	/** Comment lines above the test. */
	readonly notes: readonly string[];
}

/** Reads the derivations from the policy tables. Returns no derivations if the files do not include the tables. */
export function readDerivations(files: readonly PolicyFile[]): Derivations {
	const file = files.find(({ path }) => path === 'regolith/schema/data.json');
	const tables = file === undefined ? {} : (JSON.parse(file.text) as { readonly resource_roles?: Derivations });
	return tables.resource_roles ?? {};
}

/**
 * Returns exactly the facts in an attempt's chain. Returns `null` for a condition set rule, because its conditions may
 * depend on all of the user's roles.
 */
export function chainFacts({ by, chain }: Attempt, { user, resource }: CheckBody): TestFacts | null {
	if (by === 'set_rule') return null;
	const tenant = resource.tenant ?? 'default';
	const instances = new Map<string, string>();
	const assignments: TestAssignment[] = [];
	const relationships: TestRelationship[] = [];
	if (resource.key !== undefined) instances.set(`${resource.type}:${resource.key}`, tenant);
	for (const step of chain) {
		if (step.type === 'set_rule') continue;
		const place = placeTenant(step.resource);
		if (place === null) instances.set(step.resource, tenant);
		if (step.type === 'role_derivation') {
			instances.set(step.subject, tenant);
			relationships.push({ subject: step.subject, relation: step.relation, object: step.resource });
		} else {
			const instance = place === null ? step.resource : null;
			assignments.push({ user: user.key, role: roleKey(step.role, step.resource), tenant, instance });
		}
	}
	const none = { tenant: {}, userAttributes: {}, instanceAttributes: {} };
	return { user: true, instances, assignments, relationships, ...none };
}

/** Returns the text for a `_test.rego` file. */
export function writeOpaTest({ check, allow, facts, derivations, notes }: OpaTest): string {
	const comments = notes.map((note) => `# ${note.replaceAll(/[^\p{L}\p{N}\p{P}\p{S}\p{M} ]/gu, '\ufffd')}\n`).join('');
	const input = regoText({ json: { ...check, resource: { ...check.resource, tenant: checkTenant(check) } } }, 1);
	const tables = regoText(factTables(check, facts, derivations), 2);
	return [
		'package console_test\n\nimport data.regolith.check\n\n',
		comments,
		`${testName(check, allow)} if {\n`,
		`	${allow ? '' : 'not '}check.allow with input as ${input}\n`,
		`		with data.regolith.facts as ${tables}\n}\n`,
	].join('');
}

function checkTenant({ resource }: CheckBody): string {
	return resource.tenant ?? 'default';
}

/** Returns a descriptive name for a test. Different checks have different names. */
function testName(check: CheckBody, allow: boolean): string {
	const { user, action, resource } = check;
	const words = [user.key, allow ? 'may' : 'may_not', action, resource.type, resource.key ?? ''];
	const plain = words.map((word) => word.replaceAll(/[^A-Za-z0-9]+/g, '_').slice(0, 40)).filter((word) => word !== '');
	return `test_${plain.join('_')}_${digest(JSON.stringify(check))}`;
}

/** Returns an eight-digit hexadecimal hash (FNV-1a), which makes test names unique. */
function digest(text: string): string {
	let hash = 0x811c9dc5;
	for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
	return (hash >>> 0).toString(16).padStart(8, '0');
}

type Tree = Map<string, RegoValue>;

/** Builds the policy's data tables, `data.regolith.facts` (docs/contribute/architecture.md: The data document). */
function factTables(check: CheckBody, facts: TestFacts, derivations: Derivations): RegoValue {
	const user = check.user.key;
	const tenant = checkTenant(check);
	const tables: Tree = new Map();
	for (const name of tableNames) put(tables, [name]);
	if (facts.user) put(tables, ['users', user]);
	if (facts.tenant !== null) {
		put(tables, ['tenants', tenant], { json: facts.tenant });
		put(tables, ['tenant_roles', tenant]);
	}
	for (const [name, home] of facts.instances) {
		put(tables, ['instances', name], { json: home });
		put(tables, ['tenants', home]);
		put(tables, ['tenant_roles', home]);
	}
	for (const { user: holder, role, tenant: home, instance } of facts.assignments) {
		put(tables, ['tenants', home]);
		if (instance === null) {
			put(tables, ['users', holder, home], present);
			put(tables, ['tenant_roles', home, holder, role], present);
		} else put(tables, ['user_roles', holder, splitInstance(instance).type, role, instance], present);
	}
	for (const { subject, relation, object } of facts.relationships) {
		put(tables, ['relations', object, relation, subject], present);
	}
	tables.set('closures', { members: closures(facts.relationships, derivations) });
	if (Object.keys(facts.userAttributes).length > 0) {
		put(tables, ['user_attributes', user], { json: facts.userAttributes });
	}
	const { type, key } = check.resource;
	if (key !== undefined && Object.keys(facts.instanceAttributes).length > 0) {
		put(tables, ['instance_attributes', `${type}:${key}`], { json: facts.instanceAttributes });
	}
	return { members: tables };
}

const tableNames = ['users', 'tenants', 'tenant_roles', 'instances', 'user_roles', 'relations', 'closures'];

/** Table entry without a value. */
const present: RegoValue = { json: null };

/** Stores a value at a path, or an empty object if no value is passed. Keeps an existing value. */
function put(tree: Tree, [first, ...rest]: readonly string[], value: RegoValue = { members: new Map() }): void {
	if (first === undefined) return;
	const there = tree.get(first);
	if (rest.length === 0) {
		if (there === undefined) tree.set(first, value);
		return;
	}
	const members: Tree = there !== undefined && 'members' in there ? (there.members as Tree) : new Map();
	if (there === undefined) tree.set(first, { members });
	put(members, rest, value);
}

/**
 * Returns the direct and indirect sources of each role, as `[instance]["<role> from <type>#<role>"]`. Omits sources
 * that an assigned role can block. Policies read this table only for derivation cycles, so it may contain more entries
 * than the stored table.
 */
function closures(relationships: readonly TestRelationship[], derivations: Derivations): Tree {
	const subjects = new Map<string, TestRelationship[]>();
	for (const relationship of relationships) {
		const others = subjects.get(relationship.object) ?? [];
		subjects.set(relationship.object, [...others, relationship]);
	}
	const found: Tree = new Map();
	for (const object of subjects.keys()) {
		const { type } = splitInstance(object);
		for (const role of Object.keys(ownMember(derivations, type) ?? {})) {
			const seen = new Set<string>();
			const queue = [{ instance: object, role }];
			for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
				for (const source of unstoppedSources(next, subjects.get(next.instance) ?? [], derivations)) {
					const name = JSON.stringify(source);
					if (seen.has(name)) continue;
					seen.add(name);
					queue.push(source);
					const kind = `${role} from ${splitInstance(source.instance).type}#${source.role}`;
					if (source.instance !== object) put(found, [object, kind, source.instance], present);
				}
			}
		}
	}
	return found;
}

interface RoleOnInstance {
	readonly instance: string;
	readonly role: string;
}

/** Returns the instance roles from which a role follows in one derivation step, if nothing blocks this step. */
function unstoppedSources(
	{ instance, role }: RoleOnInstance,
	relationships: readonly TestRelationship[],
	derivations: Derivations,
): readonly RoleOnInstance[] {
	const byRole = ownMember(derivations, splitInstance(instance).type) ?? {};
	return (ownMember(byRole, role) ?? [])
		.filter(({ no_direct_roles_on_object }) => no_direct_roles_on_object !== true)
		.flatMap((derivation) =>
			relationships
				.filter(
					({ relation, subject }) =>
						relation === derivation.relation && splitInstance(subject).type === derivation.resource,
				)
				.map(({ subject }) => ({ instance: subject, role: derivation.role })),
		);
}

/**
 * Returns an object's own member, ignoring the prototype. The keys are user data, so they may equal the names of
 * prototype members.
 */
function ownMember<Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined {
	return Object.hasOwn(object, key) ? object[key] : undefined;
}
