/** What a user may do, over all tenants and instances: proposed by the index, decided by the policy, put in order here. */

import { z } from 'zod';
import { UserPermissions } from '../wire/check.js';
import type { Deciding } from './decide.js';
import type { FactsIndex } from './facts.js';
import { nameOf, partsOf, typeOf } from './instance-name.js';
import { listed } from './listed.js';
import type { PermissionsInput } from './normalise.js';
import { parts, type Steps } from './paced.js';
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

/** How many instances are decided in one evaluation: each is one check for every action of its type. */
const atOnce = 100;

/**
 * Lists the permissions of a user; one who does not exist has none. Objects, permissions and roles come sorted by code
 * unit. Throws `Failure` (`unavailable`) when the policy gives no listing.
 */
export function* permissions({ engine, facts }: Deciding, input: PermissionsInput): Steps<UserPermissions> {
	const entries = Object.entries(listed(engine, 'user_permissions', input, UserPermissions));
	const instances = (yield* instancesWanted(facts, input)).map(partsOf);
	const { user, context } = input;
	for (const part of parts(instances, atOnce)) {
		if (entries.length > 0) yield;
		const question = { user, instances: part, ...(context === undefined ? {} : { context }) };
		for (const entry of listed(engine, 'instance_permissions', question, OnInstances)) {
			entries.push([nameOf(entry.resource), entry]);
		}
	}
	return Object.fromEntries(entries.map(inOrder).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/**
 * The tenants where a user holds a role, in them or on an instance of theirs, sorted by key. Throws as
 * `permissions` does.
 */
export function userTenants({ engine }: Deciding, input: Pick<PermissionsInput, 'user'>): z.output<typeof Tenant>[] {
	const tenants = listed(engine, 'user_tenants', input, z.array(Tenant));
	return tenants.sort((left, right) => (left.key < right.key ? -1 : 1));
}

/**
 * The names of the instances on which the user may hold a role, or conditions that are asked for may grant something, as
 * far as the filters let them through.
 */
function* instancesWanted(facts: FactsIndex, input: PermissionsInput): Steps<readonly string[]> {
	const { resource_types: types, resources, tenants } = input;
	// The walk is the dear part, and tenants alone are a common question.
	if (types?.every((type) => type === '__tenant')) return [];
	const found = new Set([...(yield* instancesFor(facts, input.user.key)), ...grantedBySets(facts, input)]);
	return [...found].filter((instance) => {
		const tenant = facts.tenantOf(instance) ?? '';
		return (
			passes(types, [typeOf(instance)]) &&
			passes(resources, [instance, partsOf(instance).key]) &&
			passes(tenants, [tenant, `__tenant:${tenant}`])
		);
	});
}

/** All instances of the types asked for that condition sets may grant anything on. Goes through all instances there are. */
function* grantedBySets(facts: FactsIndex, { resource_types = [], context }: PermissionsInput): Iterable<string> {
	if (context?.['enable_abac_user_permissions'] !== true) return;
	const types = new Set(resource_types.filter((type) => facts.schema.setsMayGrant(type)));
	if (types.size === 0) return;
	for (const instance of facts.instances) if (types.has(typeOf(instance))) yield instance;
}

function passes(filter: readonly string[] | undefined, names: readonly string[]): boolean {
	return filter === undefined || filter.some((name) => names.includes(name));
}

function inOrder([id, entry]: readonly [string, Entry]): readonly [string, Entry] {
	return [id, { ...entry, permissions: entry.permissions.toSorted(), roles: entry.roles.toSorted() }];
}
