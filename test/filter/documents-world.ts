/** A decision point and a SQLite table with the same documents, for tests of filter clients. */

import type { ExecutionContext } from 'ava';
import type { Json, Model } from '../../compiler/model.js';
import { createApplication, listen } from '../../src/http/server.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { serving } from '../pdp/cases.js';
import { acme, quiet, resource } from '../pdp/environment.js';
import { key, type Served } from '../pdp/served.js';
import { type Client, client } from '../support/client.js';
import { openSqlite } from './sqlite.js';

const named = (name: string) => ({ key: name, name, description: null });
const set = (name: string, type: 'userset' | 'resourceset', conditions: Json) => {
	const of = type === 'userset' ? null : 'document';
	return { ...named(name), type, resource: of, parent: null, selects: { conditions } } as const;
};
const reader = { permissions: ['read'], extends: [], derivations: [], no_direct_roles_on_object: false };
/** Conditions on rows, keyed by the action that they allow. */
const sets: Readonly<Record<string, Json>> = {
	own: { 'resource.owner': { equals: { ref: 'user.key' } } },
	foreign: { not: { 'resource.owner': { equals: { ref: 'user.key' } } } },
	high: { 'resource.level': { 'greater-than': 2 } },
	low: { not: { 'resource.level': { 'greater-than': 2 } } },
	unlisted: { 'resource.status': { 'not-in': ['draft', 'secret'] } },
	open: { anyOf: [{ 'resource.status': { equals: 'open' } }, { 'resource.owner': { 'is-null': true } }] },
	recent: { 'resource.at': { 'greater-than-equals': '2030-01-01T00:00:00.000Z' } },
	planned: { 'resource.name': { 'starts-with': 'plan' } },
	wild: { 'resource.name': { contains: '50%' } },
	matched: { 'resource.name': { matches: '^plan' } },
};
const actions = ['read', ...Object.keys(sets)];

const model: Model = {
	schema: {
		...acme.schema,
		resources: [{ ...resource('document', actions), roles: [{ ...named('reader'), ...reader }] }],
		roles: [{ ...named('viewer'), permissions: [{ resource: 'document', action: 'read' }], extends: [] }],
		condition_sets: [
			set('everyone', 'userset', {}),
			...Object.entries(sets).map(([name, conditions]) => set(`${name} documents`, 'resourceset', conditions)),
		],
		set_rules: Object.keys(sets).map((action) => {
			return { user_set: 'everyone', resource_set: `${action} documents`, resource: 'document', action };
		}),
	},
	facts: {
		...acme.facts,
		users: ['ann', 'ben', "o'hara"],
		role_assignments: [{ user: 'ann', role: 'viewer', tenant: 'acme' }],
		user_attributes: [],
		instances: ['d1', 'd2', 'd3'].map((one) => ({ type: 'document', key: one, tenant: 'acme' })),
		instance_assignments: ['d1', 'd3'].map((instance) => {
			return { user: 'ben', role: 'reader', type: 'document', instance };
		}),
		relationships: [],
	},
};

type DocumentRow = Readonly<Record<'key' | 'tenant', string>> & Readonly<Record<string, Json>>;

export const rows: readonly DocumentRow[] = [
	{ key: 'd1', tenant: 'acme', owner: 'ann', level: 1, status: 'open', at: '2030-01-01T00:00:00.000Z', name: 'plan A' },
	{ key: 'd2', tenant: 'acme', owner: 'Ann', level: 2, status: 'Open', at: '2029-12-31T23:59:59.999Z', name: 'Plan B' },
	{ key: 'd3', tenant: 'acme', owner: null, level: 3, status: 'draft', at: null, name: '50% of a plan' },
	{
		key: 'x4',
		tenant: 'default',
		owner: "o'hara",
		level: null,
		status: null,
		at: '2031-01-01T00:00:00.000Z',
		name: null,
	},
	{ key: 'x5', tenant: 'default', owner: 'ann ', level: 10, status: 'secret', at: null, name: '500 plans' },
	{ key: 'x6', tenant: 'default', owner: "o''hara", level: 0, status: 'open ', at: null, name: 'planes' },
];
export const names = ['key', 'tenant', 'owner', 'level', 'status', 'at', 'name'] as const;
export const columns = {
	key: 'key',
	tenant: 'tenant',
	owner: { column: 'owner', type: 'string' },
	level: { column: 'level', type: 'number' },
	status: { column: 'status', type: 'string' },
	at: { column: 'at', type: 'time' },
	name: { column: 'name', type: 'string' },
};

/** A decision point with both listeners, and the rows in SQLite. */
export interface World {
	readonly served: Served;
	readonly data: Client;
	readonly dataUrl: string;
	readonly select: (condition: string, parameters?: readonly unknown[]) => readonly unknown[];
}

export async function createWorld(t: ExecutionContext): Promise<World> {
	const served = await serving(t, model);
	const { dataApi } = createDecisionPoint({ replica: served.replica, apiKey: key, log: quiet });
	const listening = await listen(
		createApplication({ ...dataApi, onUnexpected: (error) => t.fail(String(error)) }),
		'127.0.0.1',
		0,
	);
	t.teardown(() => listening.close(0));
	const sqlite = await openSqlite();
	sqlite.run(
		'create table documents (key text, tenant text, owner text, level integer, status text, at text, name text)',
	);
	for (const row of rows)
		sqlite.run(
			'insert into documents values (?, ?, ?, ?, ?, ?, ?)',
			names.map((name) => row[name]),
		);
	const select = (condition: string, parameters: readonly unknown[] = []) =>
		sqlite.column(`select key from documents where ${condition}`, parameters);
	return { served, data: client(listening.url, key), dataUrl: listening.url, select };
}

/** Returns the row keys that checks with the rows' attributes allow. */
async function allowedKeys({ http }: Served, user: string, action: string): Promise<readonly string[]> {
	const checks = rows.map(({ key: one, tenant, ...attributes }) => {
		return { user, action, resource: { type: 'document', key: one, tenant, attributes } };
	});
	const { body } = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
	return rows.flatMap((row, index) => (body.allow[index]?.allow ? [row.key] : []));
}

export const storedRows = rows.map(({ key: one, tenant, ...attributes }) => ({ key: one, tenant, attributes }));
export const pick = (isSelected: (row: never) => boolean) =>
	storedRows.filter((row) => isSelected(row as never)).map((row) => row.key);

/** Actions with conditions that a filter format cannot express, by format. */
export const refusedBy = { sql: ['matched'], plan: ['planned', 'wild', 'matched'] };

/** Every user with every action. */
export const questions = ['ann', 'ben', "o'hara", 'stranger'].flatMap((user) =>
	actions.map((action) => [user, action] as const),
);

/** Calls `run` for each user and action. `run` returns the selected keys, or `refused`. */
export async function compareAll(
	t: ExecutionContext,
	{ served }: World,
	refused: readonly string[],
	run: (user: string, action: string) => Promise<readonly unknown[] | 'refused'>,
): Promise<void> {
	for (const [user, action] of questions) {
		const expected = refused.includes(action) ? 'refused' : await allowedKeys(served, user, action);
		t.deepEqual(await run(user, action), expected, `${action} by ${user}`);
	}
}

export async function orRefused(run: () => Promise<readonly unknown[]>): Promise<readonly unknown[] | 'refused'> {
	try {
		return await run();
	} catch (error) {
		if (/cannot express|Status 422/.test(`${(error as { details?: unknown }).details} ${error}`)) return 'refused';
		throw error;
	}
}
