import type { Client } from './client.js';
import type { Random } from './random.js';

/** A user's role in a tenant. */
export interface Held {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
}

/** Facts changed by only one writer, so the writer knows each write's result. */
export interface World {
	readonly users: readonly string[];
	readonly tenants: readonly string[];
	readonly held: readonly Held[];
}

/** A request that must succeed in its world, and the world after this request. */
export interface Write {
	readonly method: 'POST' | 'PUT' | 'DELETE';
	/** Path below the environment's facts. */
	readonly path: string;
	readonly body: unknown;
	readonly after: World;
}

export const emptyWorld: World = { users: [], tenants: [], held: [] };

/** Roles for assignments. The schema grants `read` to the first and `write` to the second. */
export const roles = ['viewer', 'editor'] as const;

/** Keys for a writer's users and tenants. There are only a few, so keys are used again after a deletion. */
export interface Keys {
	readonly users: readonly string[];
	readonly tenants: readonly string[];
}

/** Returns a writer's keys, different from all other writers' keys. */
export function writerKeys(writer: number): Keys {
	return {
		users: ['a', 'b', 'c', 'd', 'e'].map((name) => `w${writer}|${name}@example.com`),
		tenants: ['x', 'y', 'z'].map((name) => `w${writer}-${name}`),
	};
}

type Maker = (world: World, keys: Keys, random: Random) => Write | undefined;

/** Returns a valid write with an effect in this world. */
export function nextWrite(world: World, keys: Keys, random: Random): Write {
	for (;;) {
		const write = random.pick(makers)(world, keys, random);
		if (write !== undefined) return write;
	}
}

/** Describes the world in sorted words. Equal worlds have equal words. */
export function worldWords({ users, tenants, held }: World): readonly string[] {
	return [
		...users.map((user) => `user ${user}`),
		...tenants.map((tenant) => `tenant ${tenant}`),
		...held.map((one) => `held ${assignmentName(one)}`),
	].sort();
}

/** Returns an assignment's name in the change log. */
function assignmentName({ user, role, tenant }: Held): string {
	return `${user}#${role}@${tenant}`;
}

/** Returns the part of a world with these keys. */
export function within(world: World, keys: Keys): World {
	return {
		users: world.users.filter((user) => keys.users.includes(user)),
		tenants: world.tenants.filter((tenant) => keys.tenants.includes(tenant)),
		held: world.held.filter(({ user }) => keys.users.includes(user)),
	};
}

/** Merges several writers' worlds. */
export function union(worlds: readonly World[]): World {
	return {
		users: worlds.flatMap((world) => world.users),
		tenants: worlds.flatMap((world) => world.tenants),
		held: worlds.flatMap((world) => world.held),
	};
}

/** A check sent to a decision point in a storm. */
export interface Question {
	readonly user: string;
	readonly action: string;
	readonly resource: { readonly type: string; readonly tenant: string };
}

/** Returns the check that is allowed if and only if the user has this role. */
export function questionAbout({ user, role, tenant }: Held): Question {
	return { user, action: role === 'viewer' ? 'read' : 'write', resource: { type: 'document', tenant } };
}

/** Returns every check about these keys, with the expected decision. */
export function worldQuestions(
	keys: Keys,
	world: World,
): readonly { readonly asked: Question; readonly allow: boolean }[] {
	return keys.users.flatMap((user) =>
		keys.tenants.flatMap((tenant) =>
			roles.map((role) => {
				const asked = questionAbout({ user, role, tenant });
				return { asked, allow: isHeld(world, asked) };
			}),
		),
	);
}

/** True if the world allows the check. */
export function isHeld(world: World, { user, action, resource }: Question): boolean {
	const wanted = action === 'read' ? 'viewer' : 'editor';
	return world.held.some((one) => one.user === user && one.role === wanted && one.tenant === resource.tenant);
}

/** Reads all users, tenants and role assignments through the API; `facts` is their path prefix. Throws on failure. */
export async function readWorld(api: Client, facts: string): Promise<World> {
	const users = await all<{ readonly key: string }>(api, `${facts}/users`);
	const tenants = await all<{ readonly key: string }>(api, `${facts}/tenants`);
	const held = await all<Held>(api, `${facts}/role_assignments`);
	return {
		users: users.map(({ key }) => key),
		tenants: tenants.map(({ key }) => key),
		held: held.map(({ user, role, tenant }) => ({ user, role, tenant })),
	};
}

async function all<Item>(api: Client, list: string): Promise<readonly Item[]> {
	const items: Item[] = [];
	for (let page = 1; ; page += 1) {
		const { status, body } = await api.get<unknown>(`${list}?per_page=100&page=${page}`);
		if (status !== 200) throw new Error(`${list} answered ${status}: ${JSON.stringify(body)}`);
		const part = (Array.isArray(body) ? body : (body as { readonly data: unknown }).data) as readonly Item[];
		items.push(...part);
		if (part.length < 100) return items;
	}
}

let serial = 0;

// A kind listed several times has more weight.
const makers: readonly Maker[] = [
	createUser,
	createUser,
	syncUser,
	deleteUser,
	createTenant,
	createTenant,
	deleteTenant,
	assign,
	assign,
	assign,
	unassign,
	unassign,
	assignMany,
	unassignMany,
];

function createUser(world: World, keys: Keys, random: Random): Write | undefined {
	const absent = keys.users.filter((user) => !world.users.includes(user));
	if (absent.length === 0) return undefined;
	const user = random.pick(absent);
	const held = random.chance(0.5) ? random.some(free(world, [user]), 3) : [];
	const body = { key: user, role_assignments: held.map(({ role, tenant }) => ({ role, tenant })) };
	const after = { ...world, users: [...world.users, user], held: [...world.held, ...held] };
	return { method: 'POST', path: '/users', body, after };
}

/** Replaces a user and all the user's roles. The name always differs, so the write always changes something. */
function syncUser(world: World, _keys: Keys, random: Random): Write | undefined {
	if (world.users.length === 0) return undefined;
	const user = random.pick(world.users);
	const others = world.held.filter((one) => one.user !== user);
	const held = random.some(free({ ...world, held: others }, [user]), 3);
	serial += 1;
	const body = { first_name: `Name ${serial}`, role_assignments: held.map(({ role, tenant }) => ({ role, tenant })) };
	const path = `/users/${encodeURIComponent(user)}`;
	return { method: 'PUT', path, body, after: { ...world, held: [...others, ...held] } };
}

function deleteUser(world: World, _keys: Keys, random: Random): Write | undefined {
	if (world.users.length === 0) return undefined;
	const user = random.pick(world.users);
	const after = {
		...world,
		users: world.users.filter((other) => other !== user),
		held: world.held.filter((one) => one.user !== user),
	};
	return { method: 'DELETE', path: `/users/${encodeURIComponent(user)}`, body: undefined, after };
}

function createTenant(world: World, keys: Keys, random: Random): Write | undefined {
	const absent = keys.tenants.filter((tenant) => !world.tenants.includes(tenant));
	if (absent.length === 0) return undefined;
	const tenant = random.pick(absent);
	const after = { ...world, tenants: [...world.tenants, tenant] };
	return { method: 'POST', path: '/tenants', body: { key: tenant, name: tenant }, after };
}

function deleteTenant(world: World, _keys: Keys, random: Random): Write | undefined {
	if (world.tenants.length === 0) return undefined;
	const tenant = random.pick(world.tenants);
	const after = {
		...world,
		tenants: world.tenants.filter((other) => other !== tenant),
		held: world.held.filter((one) => one.tenant !== tenant),
	};
	return { method: 'DELETE', path: `/tenants/${tenant}`, body: undefined, after };
}

function assign(world: World, _keys: Keys, random: Random): Write | undefined {
	const possible = free(world, world.users);
	if (possible.length === 0) return undefined;
	const given = random.pick(possible);
	return { method: 'POST', path: '/role_assignments', body: given, after: { ...world, held: [...world.held, given] } };
}

function assignMany(world: World, _keys: Keys, random: Random): Write | undefined {
	const given = random.some(free(world, world.users), 10);
	if (given.length === 0) return undefined;
	const after = { ...world, held: [...world.held, ...given] };
	return { method: 'POST', path: '/role_assignments/bulk', body: given, after };
}

function unassign(world: World, _keys: Keys, random: Random): Write | undefined {
	if (world.held.length === 0) return undefined;
	const taken = random.pick(world.held);
	return { method: 'DELETE', path: '/role_assignments', body: taken, after: without(world, [taken]) };
}

function unassignMany(world: World, _keys: Keys, random: Random): Write | undefined {
	const taken = random.some(world.held, 10);
	if (taken.length === 0) return undefined;
	return { method: 'DELETE', path: '/role_assignments/bulk', body: taken, after: without(world, taken) };
}

function without(world: World, taken: readonly Held[]): World {
	const names = new Set(taken.map(assignmentName));
	return { ...world, held: world.held.filter((one) => !names.has(assignmentName(one))) };
}

/** Returns the roles that these users do not have yet. */
function free(world: World, users: readonly string[]): readonly Held[] {
	const names = new Set(world.held.map(assignmentName));
	const possible = users.flatMap((user) =>
		world.tenants.flatMap((tenant) => roles.map((role): Held => ({ user, role, tenant }))),
	);
	return possible.filter((one) => !names.has(assignmentName(one)));
}
