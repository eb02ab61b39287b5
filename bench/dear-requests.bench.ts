import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../compiler/model.js';
import { eventually } from '../test/support/eventually.js';
import { accepted, startApi } from './support/api.js';
import { consoleEnvironment } from './support/console-environment.js';

/**
 * Measures how long each expensive request delays other requests, with API and decision point in one process, on both
 * stores. Prints the longest read, check and write. Targets: 250 ms for reads and checks, 1 s for writes. On the
 * embedded store, the targets do not apply during an import, apply or copy. `SCALE=1` has 100,000 users; `ONLY` selects
 * expensive requests by a part of their title.
 */

const scale = Number(process.env['SCALE'] ?? 0.1);
const only = process.env['ONLY'] ?? '';
const stores = (process.env['STORES'] ?? 'embedded,server').split(',') as ('embedded' | 'server')[];
const range = (length: number) => Array.from({ length }, (_, index) => index);
const long = 'a'.repeat(19_000);

const environment = '/v2/projects/default/envs/dev';
const facts = '/v2/facts/default/dev';
const schema = '/v2/schema/default/dev';
const user = (index: number) => `user-${index}@example.com`;
const check = (index: number) => ({ user: user(index), action: 'read', resource: 'document:document-1' });

interface Dear {
	readonly title: string;
	readonly run: Sender;
}

type Sender = (
	api: Awaited<ReturnType<typeof startApi>>,
	turn: number,
) => Promise<{ readonly status: number; readonly body: unknown }>;

const patterns = range(450).map((index) => ({ 'user.department': { matches: `^(x[0-9]+|y)*${index}$` } }));
const searches = range(60).map((index) => ({ 'user.bio': { contains: `${long.slice(0, 240)}${index}` } }));
const refused = range(20).map((index) => ({ 'user.department': { matches: `(?:\\pL{1,30}){1,${index + 10}}` } }));
const draftOf = (base_revision: number, count: number, kind: 'roles' | 'assignments') => ({
	base_revision,
	changes: range(count).map((index) =>
		kind === 'roles'
			? {
					kind: 'role',
					operation: 'create',
					key: `draft-${index}`,
					value: { name: 'R', permissions: ['document:list'] },
				}
			: {
					kind: 'role_assignment',
					operation: 'create',
					value: { user: user(index), role: 'role-8', tenant: `tenant-${(index * 7 + 50) % 100}` },
				},
	),
});
const revisionOf = async (api: Awaited<ReturnType<typeof startApi>>) => {
	const changes = await api.environment.get<{ data: readonly { revision: number }[] }>(
		`${environment}/changes?per_page=1`,
	);
	return changes.body.data[0]?.revision ?? 0;
};
const users = (turn: number, count: number) =>
	range(count).map((index) => ({ key: `bulk-${turn}-${index}`, email: `b-${turn}-${index}@example.com` }));

const dear: readonly Dear[] = [
	{ title: 'nothing', run: async () => ({ status: 0, body: await sleep(2_000) }) },
	...(
		[
			['preview: 450 patterns', 'preview', { anyOf: patterns }],
			['preview: 20 rejected patterns', 'preview', { anyOf: refused }],
			['preview: 60 searches in long texts', 'preview', { anyOf: searches }],
			['evaluation: 60 searches', 'evaluate', { anyOf: searches }],
		] as const
	).map(([title, path, conditions]) => ({
		title,
		run: ((api) => api.environment.post(`${schema}/condition_sets/${path}`, { conditions })) satisfies Sender,
	})),
	...(['roles', 'assignments'] as const).flatMap((kind) =>
		(['preview', 'impact'] as const).map((what) => ({
			title: `draft ${what}: 1,000 ${kind}`,
			run: (async (api) => {
				const draft = draftOf(await revisionOf(api), 1_000, kind);
				return what === 'preview'
					? api.environment.post(`${environment}/drafts/preview`, draft)
					: api.environment.post(`${environment}/impact`, { draft });
			}) satisfies Sender,
		})),
	),
	{
		title: 'decision log: 8,000 events',
		run: (api) =>
			api.environment.post(
				'/v1/decision_logs/ingress',
				range(8_000).map((index) => ({
					decision_id: randomUUID(),
					timestamp: new Date().toISOString(),
					path: 'regolith/check/code',
					input: { user: { key: user(index) }, action: 'read', resource: { type: 'document', tenant: 'tenant-1' } },
					result: { allow: false, code: 'no_permission' },
				})),
			),
	},
	{
		title: 'decision log: list',
		run: (api) => api.environment.get('/v2/pdps/default/dev/audit_logs?per_page=100&page=90'),
	},
	{
		title: 'checks: bulk of 10,000',
		run: (api) =>
			api.pdp.post(
				'/allowed/bulk',
				range(10_000).map((index) => check(index)),
			),
	},
	{
		title: 'checks: 20 with attempts',
		run: async (api) => {
			const answers = await Promise.all(
				range(20).map((index) => api.pdp.post('/allowed', check(index), { headers: { 'x-debug': 'attempts' } })),
			);
			return answers[0] ?? { status: 0, body: null };
		},
	},
	...(['keeper', 'scattered'] as const).flatMap((user) => [
		{ title: `filter: ${user}`, run: ((api) => api.pdp.post('/filter', filterOf(user))) satisfies Sender },
		{
			title: `filter: ${user}, with reasons`,
			run: ((api) => api.pdp.post('/filter', filterOf(user), { headers: { 'x-debug': 'true' } })) satisfies Sender,
		},
		{
			title: `filter: ${user}, for Permit`,
			run: ((api) => api.pdp.post('/filter_resources', filterOf(user))) satisfies Sender,
		},
		...['sql.postgresql', 'sql.mysql', 'ucast.all', 'ucast.minimal'].map((target) => ({
			title: `filter: ${user}, ${target}`,
			run: compileFor(user, target),
		})),
	]),
	...(['small-keeper', 'scattered'] as const).map((user) => ({
		title: `filter: ${user}, as a plan`,
		run: ((api) =>
			api.pdp.post('/api/plan/resources', {
				principal: { id: user, roles: [] },
				action: 'read',
				resource: { kind: 'document' },
			})) satisfies Sender,
	})),
	{
		title: 'filter: page of 50,000 keys',
		run: (api) => api.pdp.post('/filter/keys', { user: 'keeper', action: 'read', resource: 'document', limit: 50_000 }),
	},
	{ title: 'checks: user permissions', run: (api) => api.pdp.post('/user-permissions', { user: user(1) }) },
	{
		title: 'graph: 200 nodes, depth 3',
		run: (api) =>
			api.environment.get(`${environment}/graph?from=user:${encodeURIComponent(user(1))}&depth=3&limit=200`),
	},
	{
		title: 'effective roles',
		run: (api) => api.environment.get(`${facts}/users/${user(1)}/effective_roles?limit=1000`),
	},
	{ title: 'export', run: (api) => api.environment.get(`${environment}/export`) },
	{ title: 'policy', run: (api) => api.environment.get('/v2/projects/default/dev/policy') },
	{
		title: 'policy tests',
		run: async (api) => api.environment.get(`${environment}/policies/${await revisionOf(api)}/tests`),
	},
	{ title: 'OpenAPI document', run: (api) => api.environment.get('/openapi.json') },
	{ title: 'changes: page 100', run: (api) => api.environment.get(`${environment}/changes?per_page=100&page=100`) },
	{
		title: 'list: 100 users with 19 kB',
		run: (api) => api.environment.get(`${facts}/users?search=long-&per_page=100`),
	},
	{
		title: 'list: users by 20 attributes',
		run: (api) =>
			api.environment.get(
				`${facts}/users?${range(20)
					.map((index) => `attr_a${index}=1`)
					.join('&')}`,
			),
	},
	{
		title: 'list: the last page of assignments',
		run: (api) =>
			api.environment.get(
				`${facts}/role_assignments?per_page=100&page=${Math.round(500 * scale)}&include_total_count=true`,
			),
	},
	{
		title: 'bulk: 3,000 users',
		run: (api, turn) => api.environment.post(`${facts}/bulk/users`, { operations: users(turn, 3_000) }),
	},
	{
		title: 'bulk: delete 3,000 users',
		run: async (api, turn) => {
			accepted(await api.environment.post(`${facts}/bulk/users`, { operations: users(turn + 1_000, 3_000) }));
			return api.environment.delete(`${facts}/bulk/users`, {
				idents: users(turn + 1_000, 3_000).map(({ key }) => key),
			});
		},
	},
	{
		title: 'bulk: 2,000 assignments',
		run: (api, turn) =>
			api.environment.post(
				`${facts}/role_assignments/bulk`,
				range(2_000).map((index) => ({
					user: user(index),
					role: `role-${turn % 9}`,
					tenant: `tenant-${(index + 60 + turn) % 100}`,
				})),
			),
	},
	{
		title: 'bulk: 1,000 tuples',
		run: (api, turn) =>
			api.environment.post(`${facts}/relationship_tuples/bulk`, {
				operations: range(1_000).map((index) => ({
					subject: `team:team-${(index + 100 * (1 + (turn % 5))) % (20_000 * scale)}`,
					relation: 'viewers',
					object: `document:document-${index}`,
				})),
			}),
	},
	{
		title: 'draft apply: 1,000 assignments',
		run: async (api) =>
			api.environment.post(`${environment}/drafts/apply`, draftOf(await revisionOf(api), 1_000, 'assignments')),
	},
	{
		title: 'copy of the environment',
		run: (api, turn) =>
			api.organization.post(`${environment}/copy`, {
				target_env: { new: { key: `copy-${turn}`, name: 'Copy' } },
				conflict_strategy: 'overwrite',
				scope: {
					resources: { include: ['*'] },
					roles: { include: ['*'] },
					user_sets: { include: ['*'] },
					resource_sets: { include: ['*'] },
				},
			}),
	},
	{
		title: 'import, dry run',
		run: (api) => api.environment.post(`${environment}/import?dry_run=true&conflict_strategy=overwrite`, document),
	},
];

/** Users who hold a role on many documents, with ten documents per tenant or, for `scattered`, one. */
const keepers = { keeper: 50_000, 'small-keeper': 5_000, scattered: 5_000 } as const;

/** Adds the documents of `keepers`. */
function withKeepers(document: Json): { readonly [member: string]: Json } {
	const { facts: some, ...others } = document as Record<string, Record<string, Record<string, Json>>>;
	const kept = Object.entries(keepers).flatMap(([name, count]) =>
		range(count).map((index) => {
			const tenant = `${name}-${index % (name === 'scattered' ? count : count / 10)}`;
			return { user: name, role: 'viewer', resource_instance: `document:${name}-${index}`, tenant };
		}),
	);
	return {
		...others,
		facts: {
			...some,
			users: { ...some?.['users'], ...Object.fromEntries(Object.keys(keepers).map((name) => [name, {}])) },
			tenants: { ...some?.['tenants'], ...Object.fromEntries(kept.map(({ tenant }) => [tenant, { name: 'Kept' }])) },
			resource_instances: {
				...some?.['resource_instances'],
				...Object.fromEntries(kept.map(({ resource_instance, tenant }) => [resource_instance, { tenant }])),
			},
			role_assignments: [
				...((some?.['role_assignments'] ?? []) as unknown as Json[]),
				...kept.map(({ tenant: _, ...assignment }) => assignment),
			],
		},
	};
}

const document = withKeepers(consoleEnvironment(scale));

function filterOf(user: keyof typeof keepers) {
	return { user, action: 'read', resource: 'document', max_keys: keepers[user] };
}

function compileFor(user: keyof typeof keepers, target: string): Sender {
	return (api) =>
		api.opa.post(
			'/v1/compile/regolith/check/allow',
			{ input: filterOf(user) },
			{ headers: { accept: `application/vnd.opa.${target}+json` } },
		);
}

/**
 * Sends requests in a loop. The returned function stops the loop and returns the longest time in milliseconds, with the
 * statuses of failed requests.
 */
function probing(send: (turn: number) => Promise<{ readonly status: number }>): () => Promise<string> {
	let going = true;
	let longest = 0;
	const failures = new Set<number>();
	const running = (async () => {
		for (let turn = 0; going; turn += 1) {
			const start = performance.now();
			const { status } = await send(turn);
			longest = Math.max(longest, performance.now() - start);
			if (status >= 300) failures.add(status);
			await sleep(5);
		}
	})();
	return async () => {
		going = false;
		await running;
		const failed = failures.size === 0 ? '' : ` (${[...failures].join(', ')})`;
		return `${longest.toFixed(0).padStart(8)}${failed}`;
	};
}

for (const store of stores) {
	const api = await startApi(store, 'start');
	try {
		const imported = performance.now();
		const answer = accepted(await api.environment.post(`${environment}/import`, document));
		console.log(`${store}: imported in ${((performance.now() - imported) / 1000).toFixed(1)} s`);
		accepted(await api.environment.post(`${schema}/users/attributes`, { key: 'bio', type: 'string' }));
		// The probe writes separate users. If it overwrote a trial's users, the trial would be repeated.
		const operations = range(100).flatMap((index) => [
			{ key: `long-${index}`, attributes: { bio: long } },
			{ key: `probe-${index}` },
		]);
		accepted(await api.environment.post(`${facts}/bulk/users`, { operations }));
		await eventually(
			async () => (await api.pdp.get('/ready')).revision ?? -1,
			(revision) => revision > (answer.revision ?? 0),
			{ deadline: 120_000 },
		);
		await sleep(2_000);
		console.log(`${'expensive request'.padEnd(40)}   status       took     read    check    write  (longest, ms)`);
		for (const { title, run } of dear) {
			if (!title.includes(only)) continue;
			await eventually(
				async () => (await api.pdp.post('/allowed', check(1))).status,
				(status) => status === 200,
			);
			const stops = [
				probing((turn) => api.environment.get(`${facts}/users/${user(turn % 100)}`)),
				probing((turn) => api.pdp.post('/allowed', check(turn % 100))),
				probing((turn) => api.environment.patch(`${facts}/users/probe-${turn % 100}`, { first_name: `N${turn}` })),
			];
			await sleep(100);
			const start = performance.now();
			const { status, body } = await run(api, Math.round(start));
			const took = performance.now() - start;
			const [read, checked, written] = await Promise.all(stops.map((stop) => stop()));
			console.log(
				`${title.padEnd(40)} ${String(status).padStart(8)} ${took.toFixed(0).padStart(10)} ${read} ${checked} ${written}`,
			);
			if (status >= 400 && !title.includes('patterns')) console.log(`  ${JSON.stringify(body).slice(0, 300)}`);
		}
	} finally {
		await api.stop();
	}
}
