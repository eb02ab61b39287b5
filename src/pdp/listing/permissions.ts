/**
 * Lists a user's permissions in all tenants and on all instances. The index proposes candidates, the policy decides,
 * and this module sorts the result.
 */

import { z } from 'zod';
import type { Steps } from '../../../compiler/steps.js';
import { UserPermissions } from '../../wire/decision/check.js';
import type { DecisionContext } from '../decide/decide.js';
import type { PermissionsInput } from '../decide/normalise.js';
import { forEachChunk, sortedBy } from '../engine/chunks.js';
import { arrayChunks, objectChunks } from '../engine/json-chunks.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceName, instanceType, parseInstanceName } from '../facts/instance-name.js';
import { openedTenants } from '../facts/opened-tenants.js';
import { instancesFor } from '../facts/role-walk.js';
import { evaluateListing } from './evaluate-listing.js';

type Entry = UserPermissions[string];

const Tenant = z.object({ key: z.string(), attributes: z.unknown() });
const OnInstances = z.array(
	z.object({
		tenant: Tenant,
		resource: z.object({ type: z.string(), key: z.string(), attributes: z.unknown() }),
		permissions: z.array(z.string()),
		roles: z.array(z.string()),
	}),
);

/** Number of candidates visited between two pauses. */
const stride = 1_000;

/**
 * Lists a user's permissions, as `UserPermissions` JSON. A user who does not exist has no permissions. Objects,
 * permissions and roles are sorted by code unit. Throws `Failure` (`unavailable`) if the policy returns no listing.
 */
export function* permissions(
	{ engine, facts, time }: DecisionContext,
	input: PermissionsInput,
): Steps<readonly string[]> {
	const { user, context } = input;
	const question = {
		user,
		time,
		by_permission: asksForInstances(input),
		...(context === undefined ? {} : { context }),
	};
	const entries = new Map<string, string>();
	yield* forEachChunk(yield* tenantsWanted(facts, input, time), (tenants) => {
		const found = evaluateListing(engine, 'user_permissions', { ...question, tenants }, UserPermissions);
		for (const tenant of tenants) {
			const entry = found[`__tenant:${tenant}`];
			if (entry !== undefined) entries.set(`__tenant:${tenant}`, entryJson(entry));
		}
	});
	yield* forEachChunk(yield* instancesWanted(facts, input, time), (names) => {
		const instances = names.map(parseInstanceName);
		for (const entry of evaluateListing(engine, 'instance_permissions', { ...question, instances }, OnInstances)) {
			entries.set(instanceName(entry.resource), entryJson(entry));
		}
	});
	return yield* objectChunks(yield* sortedBy(entries, ([id]) => id));
}

/**
 * Returns the tenants where a user holds a role, in the tenant or on its instances, sorted by key, as `UserTenants`
 * JSON. The search takes a single step. Throws like `permissions`.
 */
export function* userTenants(
	{ engine, time }: DecisionContext,
	input: Pick<PermissionsInput, 'user'>,
): Steps<readonly string[]> {
	const tenants = evaluateListing(engine, 'user_tenants', { user: input.user, time }, z.array(Tenant));
	yield;
	const sorted = yield* sortedBy(tenants, ({ key }) => key);
	const texts: string[] = [];
	yield* forEachChunk(sorted, (chunk) => {
		for (const tenant of chunk) texts.push(JSON.stringify(tenant));
	});
	return yield* arrayChunks(texts);
}

/** Returns the tenants that pass the filters and where the user holds a role. */
function* tenantsWanted(facts: FactsIndex, input: PermissionsInput, time: number): Steps<readonly string[]> {
	const filter = new ObjectFilter(input);
	const found = new Set<string>();
	let visited = 0;
	for (const [tenant] of facts.tenantRoles.from(input.user.key, time)) {
		visited += 1;
		if (visited % stride === 0) yield;
		if (filter.passes('__tenant', `__tenant:${tenant}`, tenant, tenant)) found.add(tenant);
	}
	return [...found];
}

/** True if the input names instances or types. Instances are then listed wherever the user has any permission. */
function asksForInstances({ resources, resource_types }: PermissionsInput): boolean {
	return resources !== undefined || resource_types !== undefined;
}

/**
 * Returns the instance names that pass the filters and on which the user may hold a role. If the input names instances
 * or types, adds instances opened by tenant roles, and by conditions if requested.
 */
function* instancesWanted(facts: FactsIndex, input: PermissionsInput, time: number): Steps<readonly string[]> {
	// Skip the walk, which is expensive, because queries for tenants alone are common.
	if (input.resource_types?.every((type) => type === '__tenant')) return [];
	const filter = new ObjectFilter(input);
	const found = new Set<string>();
	let visited = 0;
	for (const candidates of [
		yield* instancesFor(facts, input.user.key, time),
		yield* instancesOpenedInTenants(facts, input, time),
		instancesGrantedBySets(facts, input),
	]) {
		for (const instance of candidates) {
			visited += 1;
			if (visited % stride === 0) yield;
			const { type, key } = parseInstanceName(instance);
			if (filter.passes(type, instance, key, facts.tenantKey(instance) ?? '')) found.add(instance);
		}
	}
	return [...found];
}

/** Returns the requested instances on which the user's tenant roles may grant anything. */
function* instancesOpenedInTenants(facts: FactsIndex, input: PermissionsInput, time: number): Steps<readonly string[]> {
	if (!asksForInstances(input)) return [];
	const tenantsOpened = yield* openedTenants(facts, input.user.key, time);
	const types = input.resource_types ?? facts.schema.types;
	const wanted = new Set(types.filter((type) => tenantsOpened(type).size > 0));
	if (wanted.size === 0) return [];
	const found: string[] = [];
	let visited = 0;
	const names = input.resources === undefined ? facts.instances : possibleNames(new Set(input.resources), wanted);
	for (const instance of names) {
		visited += 1;
		if (visited % stride === 0) yield;
		const type = instanceType(instance);
		const tenant = facts.tenantKey(instance);
		if (tenant !== undefined && wanted.has(type) && tenantsOpened(type).has(tenant)) found.push(instance);
	}
	return found;
}

/** Yields possible instance names for resources that are named by instance name or by bare key. */
function* possibleNames(resources: ReadonlySet<string>, types: ReadonlySet<string>): Iterable<string> {
	for (const resource of resources) {
		yield resource;
		for (const type of types) yield instanceName({ type, key: resource });
	}
}

/** Yields all instances of the requested types on which condition sets may grant anything. Scans all instances. */
function* instancesGrantedBySets(
	facts: FactsIndex,
	{ resource_types = [], context }: PermissionsInput,
): Iterable<string> {
	if (context?.['enable_abac_user_permissions'] !== true) return;
	const types = new Set(resource_types.filter((type) => facts.schema.setsMayGrant(type)));
	if (types.size === 0) return;
	for (const instance of facts.instances) if (types.has(instanceType(instance))) yield instance;
}

class ObjectFilter {
	readonly #types: ReadonlySet<string> | undefined;
	readonly #resources: ReadonlySet<string> | undefined;
	readonly #tenants: ReadonlySet<string> | undefined;

	constructor({ resource_types, resources, tenants }: PermissionsInput) {
		this.#types = resource_types && new Set(resource_types);
		this.#resources = resources && new Set(resources);
		this.#tenants = tenants && new Set(tenants);
	}

	passes(type: string, id: string, key: string, tenant: string): boolean {
		return (
			(this.#types?.has(type) ?? true) &&
			(this.#resources === undefined || this.#resources.has(id) || this.#resources.has(key)) &&
			(this.#tenants === undefined || this.#tenants.has(tenant) || this.#tenants.has(`__tenant:${tenant}`))
		);
	}
}

function entryJson(entry: Entry): string {
	return JSON.stringify({ ...entry, permissions: entry.permissions.toSorted(), roles: entry.roles.toSorted() });
}
