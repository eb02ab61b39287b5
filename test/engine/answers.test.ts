import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { Model } from '../../compiler/model.js';
import type { CheckQuery, EngineSource, LoadedEngine, RegolithError } from '../../packages/engine/src/index.js';
import { everyCheck, readCaseModel, serving } from '../pdp/cases.js';
import { acme, assign, environment, modelData, policyWasm, snapshot, step } from '../pdp/environment.js';
import { FakeFeed } from '../pdp/fake-feed.js';
import { key, type Served } from '../pdp/served.js';
import { eventually } from '../support/eventually.js';
import { makeKeys, signed, signingPacker } from '../support/signing-keys.js';
import { temporary } from '../support/temporary.js';
import { importBuild } from './built.js';

/** The library makes the same decisions as a decision point over HTTP. If it cannot decide, it denies. */

const withAttributes = {
	user: { key: 'ann', email: 'a@b.c', attributes: { level: 3 } },
	context: { hour: 9 },
	unknown: [1],
};

/** Sends every check to the decision point and to the library, and compares the results. */
async function ask(served: Served, engine: LoadedEngine, t: ExecutionContext, model: Model) {
	const { http } = served;
	// The JSON round trip drops undefined fields, as in a real request body.
	const checks: (CheckQuery & { readonly user: string })[] = JSON.parse(JSON.stringify(everyCheck(model)));
	const { body: bulk } = await http.post<{ allow: readonly { allow: boolean }[] }>('/allowed/bulk', checks);
	t.deepEqual(await engine.checkMany(checks), bulk.allow);
	t.true(bulk.allow.some(({ allow }) => allow));
	const [first = { user: '', action: '', resource: '' }] = checks;
	for (const check of [
		...checks.filter((_, index) => index % 97 === 0).map((check) => ({ ...check, use_debugger: true })),
		{ ...first, ...withAttributes, use_debugger: true },
		{ user: 'ann', action: 'read', resource: 'document:plan', context: null, use_debugger: true },
		{
			user: 'ann',
			action: 'read',
			resource: { type: 'document', tenant: '', key: null, attributes: { public: true } },
		},
	] satisfies CheckQuery[]) {
		t.deepEqual(throughJson(engine.check(check)), (await http.post('/allowed', check)).body, JSON.stringify(check));
	}
	const contextual_facts = anyContextualFacts(model);
	const withFacts = checks.map((check) => ({ ...check, contextual_facts }));
	const answers = await http.post<typeof bulk>('/allowed/bulk', withFacts);
	t.deepEqual(await engine.checkMany(withFacts), answers.body.allow);
	const listed = { user: model.facts.users[0] ?? '', contextual_facts };
	t.deepEqual(await engine.userPermissions(listed), (await http.post('/user-permissions', listed)).body);
	const unknown = {
		...first,
		contextual_facts: { role_assignments: [{ user: 'nobody', role: 'r', resource_instance: 'x' }] },
	};
	t.like(engine.check(unknown), { allow: false, debug: { code: 'invalid_query' } });
	for (const user of [...model.facts.users, 'nobody']) {
		for (const filter of [{}, { resource_types: model.schema.resources.map(({ key }) => key) }]) {
			const question = { user, ...filter, context: { enable_abac_user_permissions: true } };
			t.deepEqual(await engine.userPermissions(question), (await http.post('/user-permissions', question)).body);
		}
		t.deepEqual(await engine.userTenants({ user }), (await http.post('/user-tenants', { user })).body);
	}
	for (const { user, action, resource } of checks.filter((_, index) => index % 29 === 0)) {
		const { key: _, ...of } = resource as { readonly type: string; readonly key?: string; readonly tenant: string };
		for (const question of [
			{ user, action, resource: of },
			{ user, action, resource: of.type },
		]) {
			const { revision: __, ...answer } = (await http.post('/filter', question)).body;
			t.like(await engine.filter(question), answer as object);
		}
	}
	for (const { action, resource } of checks.filter((_, index) => index % 23 === 0)) {
		const question = { action, resource, context: { enable_abac_authorized_users: true } };
		t.deepEqual(await engine.authorizedUsers(question), (await http.post('/authorized_users', question)).body);
	}
}

/** Returns the first role of the first instance for the first user, if there are roles on instances. */
function anyContextualFacts({ facts, schema }: Model) {
	const [instance] = facts.instances;
	const [role] = schema.resources.find(({ key }) => key === instance?.type)?.roles ?? [];
	const [user] = facts.users;
	if (instance === undefined || role === undefined || user === undefined) return {};
	return { role_assignments: [{ user, role: role.key, resource_instance: `${instance.type}:${instance.key}` }] };
}

/** Returns a value as it would arrive over HTTP. */
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const forms = {
	bundle: async (_: Served, model: Model) => ({ bundle: await snapshot({ revision: 7, model }) }),
	'control plane': async ({ feed }: Served) => ({ controlPlane: feed.url, apiKey: key }),
	module: async (_: Served, model: Model) => ({
		module: await WebAssembly.compile(await policyWasm(model)),
		data: modelData(model),
	}),
} satisfies Record<string, (served: Served, model: Model) => Promise<EngineSource>>;

for (const [name, form, build] of [
	['007-folders-and-documents', 'bundle', 'edge'],
	['007-folders-and-documents', 'control plane', 'node'],
	['009-condition-sets', 'module', 'edge'],
	['009-condition-sets', 'bundle', 'node'],
] as const) {
	test(`${name} from a ${form} makes the same decisions as a decision point (${build})`, async (t) => {
		const model = { ...(await readCaseModel(name)), contextual_facts: true };
		const served = await serving(t, model);
		const { loadEngine } = await importBuild(build);
		const engine = await loadEngine(await forms[form](served, model));
		t.teardown(() => engine.close());
		t.is(engine.revision, form === 'module' ? undefined : 7);
		t.is(engine.state.kind, 'ready');
		await ask(served, engine, t, model);
	});
}

const annWrites = { user: 'ann', action: 'write', resource: { type: 'document', tenant: 'acme' } };
const idleReads = { user: 'idle', action: 'read', resource: { type: 'document', tenant: 'acme' } };

async function startFeed(t: ExecutionContext): Promise<FakeFeed> {
	const feed = new FakeFeed();
	await feed.start();
	t.teardown(() => feed.stop());
	feed.publish({ revision: 3, snapshot: await snapshot({ revision: 3, model: acme }) });
	return feed;
}

for (const build of ['node', 'edge'] as const) {
	test(`the engine follows revisions until it is closed, and denies after a rejection (${build})`, async (t) => {
		const feed = await startFeed(t);
		const { loadEngine } = await importBuild(build);
		const engine = await loadEngine({ controlPlane: feed.url, apiKey: key });
		t.teardown(() => engine.close());
		t.is(engine.revision, 3);
		t.false(engine.check(idleReads).allow);
		const next = engine.reached(4);
		const patches = assign('idle', 'acme', ['reader']);
		const bytes = await snapshot({ revision: 4, model: acme });
		feed.publish({ revision: 4, snapshot: bytes, step: await step({ base: 3, revision: 4, patches }) });
		await next;
		t.true(engine.check(idleReads).allow);
		await t.throwsAsync(engine.reached(99, { timeout: 20 }), { name: 'RegolithError', message: /revision 99/ });

		feed.refuse(403);
		await eventually(
			() => engine.state.kind,
			(kind) => kind === 'refused',
		);
		t.deepEqual(engine.check(annWrites), { allow: false, result: false, debug: { code: 'not_loaded' } });
		await t.throwsAsync(engine.checkMany([annWrites]), { name: 'RegolithError', message: /nothing is loaded/ });
		feed.deleteEnvironment();
		await eventually(
			() => engine.state.kind,
			(kind) => kind === 'deleted',
		);
		t.deepEqual(engine.check(annWrites), { allow: false, result: false, debug: { code: 'environment_deleted' } });
		t.like(await engine.checkMany([annWrites]), [{ allow: false }]);
		t.deepEqual(await engine.userPermissions({ user: 'ann' }), {});
		t.like(await t.throwsAsync(loadEngine({ controlPlane: feed.url, apiKey: key })), { code: 'refused' });
		feed.refuse(undefined);
		await eventually(
			() => engine.state.kind,
			(kind) => kind === 'ready',
		);
		const waiting = t.throwsAsync(engine.reached(99), { name: 'RegolithError', message: /closed/ });
		await engine.close();
		await waiting;
		const { length } = feed.seen;
		t.is(engine.state.kind, 'closed');
		t.is(feed.seen.length, length);
	});

	test(`a new lineage can have a lower revision, and tokens of the previous lineage are rejected (${build})`, async (t) => {
		const feed = await startFeed(t);
		const { loadEngine } = await importBuild(build);
		const engine = await loadEngine({ controlPlane: feed.url, apiKey: key });
		t.teardown(() => engine.close());
		const [first, second] = ['1'.repeat(16), '2'.repeat(16)];
		for (const [lineage, revision] of [
			[first, 9],
			[second, 2],
		] as const) {
			feed.publish({ lineage, revision, snapshot: await snapshot({ lineage, revision, model: acme }) });
			await engine.reached(`${lineage}.${revision}`);
			t.deepEqual([engine.lineage, engine.revision], [lineage, revision]);
		}
		const ended = await t.throwsAsync(engine.reached(`${first}.1`), { message: /has ended/ });
		t.like(ended, { code: 'unavailable' });
		t.like(await t.throwsAsync(engine.reached('none')), { code: 'invalid_query' });
	});

	test(`a closed engine denies (${build})`, async (t) => {
		const { loadEngine } = await importBuild(build);
		const engine = await loadEngine({ bundle: await snapshot({ revision: 5, model: acme }) });
		t.true(engine.check(annWrites).allow);
		await engine.reached(5);
		t.like(await t.throwsAsync(engine.reached(6)), { code: 'unavailable' });
		const listing = engine.userPermissions({ user: 'ann' });
		await Promise.all([engine.close(), engine.close(), listing.catch(() => undefined)]);
		t.deepEqual(engine.check(annWrites), { allow: false, result: false, debug: { code: 'closed' } });
		t.is(engine.revision, undefined);
		for (const answer of [
			engine.checkMany([annWrites]),
			engine.userPermissions({ user: 'ann' }),
			engine.userTenants({ user: 'ann' }),
			engine.authorizedUsers({ action: 'write', resource: 'document' }),
			engine.reached(1),
		]) {
			t.like(await t.throwsAsync(answer), { name: 'RegolithError', code: 'closed' });
		}
	});

	test(`no input makes a decision throw, and only valid checks are allowed (${build})`, async (t) => {
		const { loadEngine } = await importBuild(build);
		const engine = await loadEngine({ bundle: await snapshot({ revision: 5, model: acme }) });
		t.teardown(() => engine.close());
		const denied = (value: unknown) => !engine.check(value as CheckQuery).allow;
		const cyclic: Record<string, unknown> = {};
		cyclic['self'] = cyclic;
		const throwing = new Proxy({}, { get: () => t.context, has: () => false, ownKeys: () => [] });
		for (const value of [
			throwing,
			new Proxy(annWrites, {
				get() {
					throw new Error('no');
				},
			}),
			{ ...idleReads, user: cyclic },
			{ ...idleReads, context: cyclic },
			{ ...idleReads, context: { big: 1n } },
			{ ...idleReads, resource: { ...idleReads.resource, attributes: { toJSON: () => 'x' } } },
			{ ...annWrites, context: { infinite: Number.POSITIVE_INFINITY } },
			{ ...annWrites, use_debugger: 'yes' },
			[annWrites],
		]) {
			t.true(denied(value));
		}
		fc.assert(fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), denied));
		const parts = fc.anything();
		fc.assert(fc.property(parts, parts, (user, context) => denied({ ...idleReads, user, context })));

		const results = await engine.checkMany([annWrites, null, annWrites] as unknown as CheckQuery[]);
		t.deepEqual(
			results.map(({ allow }) => allow),
			[true, false, true],
		);
		for (const list of [undefined, 'checks', { checks: [annWrites] }, new Array(10_001).fill(annWrites)]) {
			t.like(await t.throwsAsync(engine.checkMany(list as CheckQuery[])), { code: 'invalid_query' });
		}
		t.like(await t.throwsAsync(engine.userPermissions({} as { user: string })), { code: 'invalid_query' });
	});

	test(`an invalid engine is rejected with a code (${build})`, async (t) => {
		const { loadEngine } = await importBuild(build);
		const feed = await startFeed(t);
		const good = await snapshot({ revision: 5, model: acme });
		const foreign = await step({ base: 4, revision: 5, patches: [] });
		const module = await WebAssembly.compile(await policyWasm(acme));
		const empty = await WebAssembly.compile(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
		const sha256 = createHash('sha256').update(good).digest('hex');
		t.true((await loadEngine({ bundle: good, sha256: sha256.toUpperCase() })).check(annWrites).allow);
		const folder = temporary(t);
		const [keys, others] = [makeKeys(folder, 'key'), makeKeys(folder, 'other', 'RS256')];
		const verificationKeys = [others.publicKey, keys.publicKey];
		const trusted = await signed(await signingPacker(keys.privatePath), good);
		t.true((await loadEngine({ bundle: trusted })).check(annWrites).allow);
		t.true((await loadEngine({ bundle: trusted, verificationKeys })).check(annWrites).allow);
		const followed = { controlPlane: feed.url, apiKey: key, verificationKeys };
		feed.publish({ revision: 5, snapshot: good });
		const sources: readonly (readonly [RegolithError['code'], unknown])[] = [
			['invalid_source', { bundle: trusted, verificationKeys: 'key' }],
			['invalid_source', { bundle: trusted, verificationKeys: [] }],
			['invalid_source', { bundle: trusted, verificationKeys: [keys.publicKey, 'key'] }],
			['invalid_bundle', { bundle: good, verificationKeys }],
			['invalid_bundle', { bundle: trusted, verificationKeys: [others.publicKey] }],
			['unavailable', { ...followed, timeout: 300 }],
			['invalid_source', undefined],
			['invalid_source', {}],
			['invalid_source', { bundle: 'text' }],
			['invalid_source', { controlPlane: 'nowhere', apiKey: key }],
			['invalid_source', { controlPlane: feed.url }],
			['invalid_source', { module: {}, data: {} }],
			['invalid_source', { module }],
			['invalid_bundle', { bundle: new Uint8Array() }],
			['invalid_bundle', { bundle: good.subarray(0, -9) }],
			['invalid_bundle', { bundle: good.map((byte, index) => (index === 40_000 ? byte ^ 255 : byte)) }],
			['invalid_bundle', { bundle: foreign }],
			['invalid_bundle', { bundle: good, sha256: '0'.repeat(64) }],
			['invalid_bundle', { module, data: '[]' }],
			['invalid_bundle', { module, data: '{' }],
			['invalid_bundle', { module: empty, data: {} }],
			['unavailable', { controlPlane: 'http://127.0.0.1:9', apiKey: key, timeout: 30 }],
		];
		for (const [code, source] of sources) {
			const error = await t.throwsAsync(loadEngine(source as EngineSource), { name: 'RegolithError' });
			t.like(error, { code }, `${code}: ${error?.message}`);
		}
		feed.publish({ revision: 5, snapshot: trusted });
		const following = await loadEngine(followed);
		t.true(following.check(annWrites).allow);
		await following.close();
		feed.refuse(401);
		const refused = await t.throwsAsync(loadEngine({ controlPlane: feed.url, apiKey: 'wrong' }));
		t.like(refused, { code: 'refused' });
	});
}

test('the feed serves the key’s environment', async (t) => {
	const feed = await startFeed(t);
	const { loadEngine } = await importBuild('node');
	t.is(feed.environment, environment);
	feed.environment = null;
	const refused = await t.throwsAsync(loadEngine({ controlPlane: feed.url, apiKey: key }));
	t.like(refused, { code: 'refused' });
	t.regex(refused?.message ?? '', /needs an environment's key/);
});
