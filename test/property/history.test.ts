import test from 'ava';
import fc from 'fast-check';
import { document } from '../../compiler/index.js';
import { parseManifest, parsePatches } from '../../src/bundle.js';
import { Engine } from '../../src/pdp/engine.js';
import { newPlace, type Place } from '../support/management.js';
import { type Stack, startStack } from '../support/stack.js';
import { askOpa, bundleData, bundleModule, snapshot, stepFrom } from './feed.js';
import { decide, patched, permissions } from './oracle.js';
import type { Query } from './query.js';
import { opening, Simulation, universe, type Write, write } from './simulation.js';

/** Random histories of writes over HTTP, held against books kept aside, the oracle, and stock OPA. */

let stack: Stack;
test.before(async () => {
	stack = await startStack();
});
test.after.always(() => stack?.stop());

async function send({ http: api, schema, facts }: Place, entry: Write) {
	const at = (path: string, name: string) => `${path}/${encodeURIComponent(name)}`;
	const blocks = (actions: readonly string[]) => Object.fromEntries(actions.map((name) => [name, {}]));
	switch (entry.kind) {
		case 'create-user': {
			const { user, role, tenant } = entry;
			return api.post(`${facts}/users`, { key: user, role_assignments: role === undefined ? [] : [{ role, tenant }] });
		}
		case 'rename-user':
			return api.patch(at(`${facts}/users`, entry.user), { first_name: entry.name });
		case 'describe-user':
			return api.patch(at(`${facts}/users`, entry.user), { attributes: entry.attributes });
		case 'delete-user':
			return api.delete(at(`${facts}/users`, entry.user));
		case 'create-tenant':
			return api.post(`${facts}/tenants`, { key: entry.tenant, name: entry.tenant });
		case 'set-tenant':
			return api.patch(at(`${facts}/tenants`, entry.tenant), { attributes: entry.attributes });
		case 'delete-tenant':
			return api.delete(at(`${facts}/tenants`, entry.tenant));
		case 'create-resource':
			return api.post(`${schema}/resources`, {
				key: entry.resource,
				name: entry.resource,
				actions: blocks(entry.actions),
			});
		case 'set-actions':
			return api.patch(at(`${schema}/resources`, entry.resource), { actions: blocks(entry.actions) });
		case 'delete-resource':
			return api.delete(at(`${schema}/resources`, entry.resource));
		case 'create-role':
			return api.post(`${schema}/roles`, { key: entry.role, name: entry.role, extends: entry.parents });
		case 'grant':
		case 'revoke': {
			const body = { permissions: [`${entry.resource}:${entry.action}`] };
			const path = `${at(`${schema}/roles`, entry.role)}/permissions`;
			return entry.kind === 'grant' ? api.post(path, body) : api.delete(path, body);
		}
		case 'delete-role':
			return api.delete(at(`${schema}/roles`, entry.role));
		case 'assign':
		case 'unassign': {
			const { user, role, tenant } = entry;
			const body = { user, role, tenant };
			return entry.kind === 'assign'
				? api.post(`${facts}/role_assignments`, body)
				: api.delete(`${facts}/role_assignments`, body);
		}
	}
}

/** Every question the universe allows, and some about what never exists. */
function everyQuery(): readonly Query[] {
	const users = [...universe.users, 'nobody'];
	const tenants = [...universe.tenants, 'nowhere'];
	const types = [...universe.resources, 'nothing'];
	const actions = [...universe.actions, 'never'];
	return users.flatMap((key) =>
		tenants.flatMap((tenant) =>
			types.flatMap((type) => actions.map((action) => ({ user: { key }, action, resource: { type, tenant } }))),
		),
	);
}

test('patches and snapshot give equal data; WASM, opa eval and the oracle give equal answers; a listing is its checks', async (t) => {
	t.timeout(600_000);
	let steps = 0;
	await fc.assert(
		fc.asyncProperty(
			fc.array(write, { minLength: 8, maxLength: 40 }),
			fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 3 }),
			async (random, looks) => {
				const site = { url: stack.api.listening.url, store: stack.api.store };
				const environment = await newPlace(site, stack.organization);
				const books = new Simulation();
				const history = [...opening, ...random];
				const empty = await snapshot(environment, '');
				const bases = [empty];
				let revision = Number(parseManifest(empty.files).revision);
				for (const [index, entry] of history.entries()) {
					const { accepted, changes } = books.enter(entry);
					const answer = await send(environment, entry);
					const said = `${JSON.stringify(entry)} was answered ${answer.status} ${JSON.stringify(answer.body)}`;
					t.is(answer.status < 300, accepted, said);
					if (accepted) {
						// Revisions are gapless, and a write that changes nothing has none of its own.
						revision += changes ? 1 : 0;
						t.is(answer.revision, revision, said);
					}
					if (looks.includes(index)) bases.push(await snapshot(environment, ''));
				}

				const model = books.model();
				const newest = await snapshot(environment, '');
				t.deepEqual(
					bundleData(newest),
					JSON.parse(JSON.stringify(document(model))),
					'the snapshot is what the books say',
				);
				t.is(parseManifest(newest.files).revision, String(revision));

				const engine = await Engine.load(await bundleModule(newest), newest.files.get('data.json') as Uint8Array);
				for (const base of bases) {
					const step = await stepFrom(environment, base.etag);
					if (step === null) continue;
					steps += parseManifest(step.files).metadata.regolith.kind === 'snapshot' ? 0 : 1;
					const patches = parsePatches(step.files);
					t.deepEqual(patched(bundleData(base), patches), bundleData(newest), 'snapshot + patches = later snapshot');
					const held = await Engine.load(await bundleModule(base), base.files.get('data.json') as Uint8Array);
					const moved = await (step.files.has('policy.wasm') ? held.fork(await bundleModule(step)) : held);
					moved.patch(patches);
					t.deepEqual(moved.dump(), engine.dump(), 'the same inside WASM memory');
				}

				const queries = everyQuery();
				const expected = queries.map((query) => decide(model, query).code);
				const inWasm = queries.map((query) => engine.code(query as Parameters<Engine['code']>[0]));
				t.deepEqual(inWasm, expected, 'WASM = oracle');
				t.deepEqual(await askOpa(t, await snapshot(environment, '/rego'), queries), expected, 'opa eval = oracle');
				for (const key of [...universe.users, 'nobody']) {
					const listed = engine.evaluate('regolith/listing/user_permissions', { user: { key } }) ?? {};
					t.deepEqual(sorted(listed), JSON.parse(JSON.stringify(permissions(model, key))), 'a listing is its checks');
				}
			},
		),
		{ numRuns: Number(process.env['HISTORIES'] ?? 8), includeErrorInReport: true },
	);
	t.true(steps > 0, 'no history was answered with patches');
});

function sorted(listing: unknown): unknown {
	const entries = Object.entries(listing as Record<string, { permissions: string[]; roles: string[] }>);
	return Object.fromEntries(
		entries.map(([key, entry]) => [
			key,
			{ ...entry, permissions: [...entry.permissions].sort(), roles: [...entry.roles].sort() },
		]),
	);
}
