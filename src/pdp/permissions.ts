/** What a user may do, over all tenants and instances: proposed by the index, decided by the policy, put in order here. */

import { z } from 'zod';
import { UserPermissions } from '../wire/check.js';
import type { Deciding } from './decide.js';
import type { Steps } from './engine/steps.js';
import type { FactsIndex } from './facts.js';
import { nameOf, partsOf, typeOf } from './instance-name.js';
import { objectOf } from './json-pieces.js';
import { listed } from './listed.js';
import type { PermissionsInput } from './normalise.js';
import { inPortions, sortedBy } from './portions.js';
import { instancesFor } from './role-walk.js';

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

/** How many candidates are gone through between two pauses. */
const stride = 1_000;

/**
 * Lists the permissions of a user, as the JSON of `UserPermissions`; one who does not exist has none. Objects,
 * permissions and roles come sorted by code unit. Throws `Failure` (`unavailable`) when the policy gives no listing.
 */
export function* permissions({ engine, facts }: Deciding, input: PermissionsInput): Steps<readonly string[]> {
	const { user, context } = input;
	const question = { user, ...(context === undefined ? {} : { context }) };
	const entries = new Map<string, string>();
	yield* inPortions(yield* tenantsWanted(facts, input), (tenants) => {
		const found = listed(engine, 'user_permissions', { ...question, tenants }, UserPermissions);
		for (const tenant of tenants) {
			const entry = found[`__tenant:${tenant}`];
			if (entry !== undefined) entries.set(`__tenant:${tenant}`, textFor(entry));
		}
	});
	yield* inPortions(yield* instancesWanted(facts, input), (names) => {
		const instances = names.map(partsOf);
		for (const entry of listed(engine, 'instance_permissions', { ...question, instances }, OnInstances)) {
			entries.set(nameOf(entry.resource), textFor(entry));
		}
	});
	return yield* objectOf(yield* sortedBy(entries, ([id]) => id));
}

/**
 * The tenants where a user holds a role, in them or on an instance of theirs, sorted by key. Throws as
 * `permissions` does.
 */
export function userTenants({ engine }: Deciding, input: Pick<PermissionsInput, 'user'>): z.output<typeof Tenant>[] {
	const tenants = listed(engine, 'user_tenants', input, z.array(Tenant));
	return tenants.sort((left, right) => (left.key < right.key ? -1 : 1));
}

/** The tenants where the user holds a role, as far as the filters let them through. */
function* tenantsWanted(facts: FactsIndex, input: PermissionsInput): Steps<readonly string[]> {
	const filter = new Filter(input);
	const found = new Set<string>();
	let visited = 0;
	for (const [tenant] of facts.tenantRoles.from(input.user.key)) {
		visited += 1;
		if (visited % stride === 0) yield;
		if (filter.passes('__tenant', `__tenant:${tenant}`, tenant, tenant)) found.add(tenant);
	}
	return [...found];
}

/**
 * The names of the instances on which the user may hold a role, or conditions that are asked for may grant something, as
 * far as the filters let them through.
 */
function* instancesWanted(facts: FactsIndex, input: PermissionsInput): Steps<readonly string[]> {
	// The walk is the dear part, and tenants alone are a common question.
	if (input.resource_types?.every((type) => type === '__tenant')) return [];
	const filter = new Filter(input);
	const found = new Set<string>();
	let visited = 0;
	for (const candidates of [yield* instancesFor(facts, input.user.key), grantedBySets(facts, input)]) {
		for (const instance of candidates) {
			visited += 1;
			if (visited % stride === 0) yield;
			const { type, key } = partsOf(instance);
			if (filter.passes(type, instance, key, facts.tenantOf(instance) ?? '')) found.add(instance);
		}
	}
	return [...found];
}

/** All instances of the types asked for that condition sets may grant anything on. Goes through all instances there are. */
function* grantedBySets(facts: FactsIndex, { resource_types = [], context }: PermissionsInput): Iterable<string> {
	if (context?.['enable_abac_user_permissions'] !== true) return;
	const types = new Set(resource_types.filter((type) => facts.schema.setsMayGrant(type)));
	if (types.size === 0) return;
	for (const instance of facts.instances) if (types.has(typeOf(instance))) yield instance;
}

/** What of all objects is asked for. */
class Filter {
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

function textFor(entry: Entry): string {
	return JSON.stringify({ ...entry, permissions: entry.permissions.toSorted(), roles: entry.roles.toSorted() });
}
