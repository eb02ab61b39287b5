import type { EngineInput } from '../../src/pdp/engine/engine.js';
import type { Random } from './random.js';
import { facts, schema } from './stack.js';

/** Random writes of all kinds to a few objects, so writers conflict. */

/** A request whose success depends on the current state. */
export interface Mixed {
	readonly method: string;
	readonly path: string;
	readonly body?: unknown;
	/** A change log entry that every success creates; absent if the entry depends on the state. */
	readonly leaves?: string;
}

const numbered = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}${index}`);
const users = numbered(30, 'user-');
const tenants = ['default', ...numbered(6, 'tenant-')];
const roles = numbered(4, 'role-');
const resources = numbered(3, 'resource-');
const actions = ['read', 'write', 'share'];

/** Returns a random write. Kinds listed several times have more weight. */
export function mixedWrite(random: Random): Mixed {
	return random.pick(makers)(random);
}

/** Returns every check about these objects. */
export function questions(): readonly EngineInput[] {
	return users.flatMap((user) =>
		tenants.flatMap((tenant) =>
			resources.flatMap((type) =>
				actions.map((action) => ({ user: { key: user }, action, resource: { type, tenant }, time: 0 })),
			),
		),
	);
}

let serial = 0;

/** Returns a unique string. */
function fresh(): string {
	serial += 1;
	return `Name ${serial}`;
}

type Maker = (random: Random) => Mixed;

const createUser: Maker = (random) => {
	const key = random.pick(users);
	const role_assignments = random.chance(0.3) ? [{ role: random.pick(roles), tenant: random.pick(tenants) }] : [];
	return { method: 'POST', path: `${facts}/users`, body: { key, role_assignments }, leaves: `create user ${key}` };
};

const replaceUser: Maker = (random) => {
	const role_assignments = random.some(tenants, 3).map((tenant) => ({ role: random.pick(roles), tenant }));
	const body = { first_name: fresh(), ...(random.chance(0.3) && { role_assignments }) };
	return { method: 'PUT', path: `${facts}/users/${random.pick(users)}`, body };
};

const changeUser: Maker = (random) => {
	const key = random.pick(users);
	return {
		method: 'PATCH',
		path: `${facts}/users/${key}`,
		body: { first_name: fresh() },
		leaves: `update user ${key}`,
	};
};

const deleteUser: Maker = (random) => {
	const key = random.pick(users);
	return { method: 'DELETE', path: `${facts}/users/${key}`, leaves: `delete user ${key}` };
};

const createUsers: Maker = (random) => {
	const operations = random.some(users, 4).map((key) => ({ key }));
	return {
		method: 'POST',
		path: `${facts}/bulk/users`,
		body: { operations },
		leaves: `create user ${operations[0]?.key}`,
	};
};

const replaceUsers: Maker = (random) => {
	const operations = random.some(users, 6).map((key) => ({ key, first_name: fresh() }));
	return { method: 'PUT', path: `${facts}/bulk/users`, body: { operations } };
};

const deleteUsers: Maker = (random) => {
	const idents = random.some(users, 2);
	return { method: 'DELETE', path: `${facts}/bulk/users`, body: { idents }, leaves: `delete user ${idents[0]}` };
};

const createTenant: Maker = (random) => {
	const key = random.pick(tenants);
	const body = { key, name: fresh(), attributes: { plan: random.below(3) } };
	return { method: 'POST', path: `${facts}/tenants`, body, leaves: `create tenant ${key}` };
};

const changeTenant: Maker = (random) => {
	const key = random.pick(tenants);
	const body = { name: fresh(), attributes: { plan: random.below(3) } };
	return { method: 'PATCH', path: `${facts}/tenants/${key}`, body, leaves: `update tenant ${key}` };
};

const deleteTenant: Maker = (random) => {
	const key = random.pick(tenants);
	return { method: 'DELETE', path: `${facts}/tenants/${key}`, leaves: `delete tenant ${key}` };
};

const assignmentBy = (random: Random) => ({
	user: random.pick(users),
	role: random.pick(roles),
	tenant: random.pick(tenants),
});

const assign: Maker = (random) => {
	const body = assignmentBy(random);
	const leaves = `create role_assignment ${body.user}#${body.role}@${body.tenant}`;
	return { method: 'POST', path: `${facts}/role_assignments`, body, leaves };
};

const unassign: Maker = (random) => {
	const body = assignmentBy(random);
	const leaves = `delete role_assignment ${body.user}#${body.role}@${body.tenant}`;
	return { method: 'DELETE', path: `${facts}/role_assignments`, body, leaves };
};

const assignMany: Maker = (random) => {
	const body = Array.from({ length: 1 + random.below(8) }, () => assignmentBy(random));
	const path = `${facts}/role_assignments/bulk?missing_user_policy=${random.pick(['create', 'ignore'])}`;
	return { method: 'POST', path, body };
};

const unassignMany: Maker = (random) => {
	const body = Array.from({ length: 1 + random.below(8) }, () => assignmentBy(random));
	return { method: 'DELETE', path: `${facts}/role_assignments/bulk`, body };
};

const createRole: Maker = (random) => {
	const key = random.pick(roles);
	return { method: 'POST', path: `${schema}/roles`, body: { key, name: fresh() }, leaves: `create role ${key}` };
};

const changeRole: Maker = (random) => {
	const key = random.pick(roles);
	const permissions = [`${random.pick(resources)}:${random.pick(actions)}`];
	return {
		method: 'PATCH',
		path: `${schema}/roles/${key}`,
		body: { name: fresh(), permissions },
		leaves: `update role ${key}`,
	};
};

const deleteRole: Maker = (random) => {
	const key = random.pick(roles);
	return { method: 'DELETE', path: `${schema}/roles/${key}`, leaves: `delete role ${key}` };
};

const createResource: Maker = (random) => {
	const key = random.pick(resources);
	const body = { key, name: fresh(), actions: Object.fromEntries(actions.map((action) => [action, {}])) };
	return { method: 'POST', path: `${schema}/resources`, body, leaves: `create resource ${key}` };
};

const deleteResource: Maker = (random) => {
	const key = random.pick(resources);
	return { method: 'DELETE', path: `${schema}/resources/${key}`, leaves: `delete resource ${key}` };
};

const times = (count: number, maker: Maker) => Array.from({ length: count }, () => maker);

const makers: readonly Maker[] = [
	...times(16, createUser),
	...times(6, replaceUser),
	...times(12, changeUser),
	...times(6, deleteUser),
	...times(4, createUsers),
	...times(4, replaceUsers),
	...times(1, deleteUsers),
	...times(6, createTenant),
	...times(6, changeTenant),
	...times(1, deleteTenant),
	...times(20, assign),
	...times(8, unassign),
	...times(4, assignMany),
	...times(2, unassignMany),
	...times(3, createRole),
	...times(3, changeRole),
	...times(1, deleteRole),
	...times(2, createResource),
	...times(1, deleteResource),
];
