import { cpus, loadavg } from 'node:os';
import { client } from '../test/support/client.js';
import type { StoreKind } from '../test/support/postgres.js';
import { accepted, startApi } from './support/api.js';

/**
 * Measures bulk calls over real HTTP on both stores while an environment grows. Each call creates 2,000 role
 * assignments, either for a single user or for many users. A call into a large environment should cost the same as a
 * call into an empty environment. A second client reads a user in a loop, and the benchmark prints the longest wait of
 * this client.
 *
 * `ROWS=20000,1000000` sets the sizes (default 20,000); `BULK=embedded,instances` selects scenarios whose names contain
 * all these words.
 */

const targets = (process.env['ROWS'] ?? '20000').split(',').map(Number);
const wanted = (process.env['BULK'] ?? '').split(',').filter(Boolean);
const size = 2_000;
const stores = ['server', 'embedded'] as const satisfies readonly StoreKind[];

interface Shape {
	/**
	 * Returns the bulk call that creates objects, and its item for assignment `n`. Objects are created in the same
	 * portions as assignments.
	 */
	readonly prepare: (n: number) => { readonly method: 'post' | 'put'; readonly path: string; readonly body: object };
	readonly assignment: (n: number) => object;
}

const shapes: Readonly<Record<string, Shape>> = {
	'one user, on instances': {
		prepare: (n) => ({
			method: 'put',
			path: '/bulk/resource_instances',
			body: { resource: 'document', key: `d${n}`, tenant: 'default' },
		}),
		assignment: (n) => ({ user: 'ann', role: 'reader', resource_instance: `document:d${n}`, tenant: 'default' }),
	},
	'one user, in tenants': {
		prepare: (n) => ({ method: 'post', path: '/bulk/tenants', body: { key: `t${n}`, name: 'T' } }),
		assignment: (n) => ({ user: 'ann', role: 'viewer', tenant: `t${n}` }),
	},
	'many users, one tenant': {
		prepare: (n) => ({ method: 'post', path: '/bulk/users', body: { key: `u${n}` } }),
		assignment: (n) => ({ user: `u${n}`, role: 'viewer', tenant: 'default' }),
	},
};

const document = {
	key: 'document',
	name: 'Document',
	actions: { read: {} },
	roles: { reader: { name: 'Reader', permissions: ['read'] } },
};

async function seconds(work: () => Promise<unknown>): Promise<number> {
	const started = performance.now();
	await work();
	return (performance.now() - started) / 1000;
}

const median = (values: readonly number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measure(kind: StoreKind, name: string, shape: Shape): Promise<void> {
	const api = await startApi(kind, 'start');
	const { secret } = accepted(await api.organization.get<{ secret: string }>('/v2/api-key/default/dev')).body;
	const http = client(api.url, secret);
	const facts = '/v2/facts/default/dev';
	accepted(await http.post('/v2/schema/default/dev/resources', document));
	accepted(
		await http.post('/v2/schema/default/dev/roles', { key: 'viewer', name: 'V', permissions: ['document:read'] }),
	);
	for (const key of ['ann', 'bob']) accepted(await http.post(`${facts}/users`, { key }));
	const other = watch(async () => accepted(await http.get(`${facts}/users/bob`)));
	const calls: number[] = [];
	const references = (from: number) => Array.from({ length: size }, (_, index) => from + index);
	for (const rows of targets) {
		while (calls.length * size < rows) {
			const numbers = references(calls.length * size);
			const prepared = numbers.map(shape.prepare);
			const [{ method, path } = { method: 'post', path: '' } as const] = prepared;
			accepted(await http[method](facts + path, { operations: prepared.map(({ body }) => body) }));
			const given = numbers.map(shape.assignment);
			calls.push(await seconds(async () => accepted(await http.post(`${facts}/role_assignments/bulk`, given))));
		}
		const [first, last] = [median(calls.slice(1, 6)), median(calls.slice(-5))];
		const taken = references(0).map(shape.assignment);
		const take = await seconds(async () => accepted(await http.delete(`${facts}/role_assignments/bulk`, taken)));
		const give = await seconds(async () => accepted(await http.post(`${facts}/role_assignments/bulk`, taken)));
		const one = await seconds(async () => accepted(await http.delete(`${facts}/role_assignments`, taken[0])));
		accepted(await http.post(`${facts}/role_assignments`, taken[0]));
		const list = await seconds(async () => accepted(await http.get(`${facts}/role_assignments?user=ann&per_page=100`)));
		console.log(
			`${`${kind}: ${name}, ${rows} rows`.padEnd(48)} first call ${first.toFixed(2)} s, last call ${last.toFixed(2)} s ` +
				`(x${(last / first).toFixed(1)}), worst ${Math.max(...calls).toFixed(2)} s; removing 2,000 ${take.toFixed(2)} s, ` +
				`assigning them again ${give.toFixed(2)} s; removing one ${(one * 1000).toFixed(0)} ms; a page ${(list * 1000).toFixed(0)} ms; ` +
				`a second reader waited at most ${(other.longest() * 1000).toFixed(0)} ms`,
		);
	}
	const gone = await seconds(async () => accepted(await http.delete(`${facts}/users/ann`)));
	console.log(`${`${kind}: ${name}`.padEnd(48)} the user and its assignments deleted in ${gone.toFixed(2)} s`);
	await other.stop();
	await api.stop();
}

/** Repeats `work` and records its longest duration. */
function watch(work: () => Promise<unknown>) {
	const state = { longest: 0, stopped: false };
	const running = (async () => {
		while (!state.stopped) state.longest = Math.max(state.longest, await seconds(work));
	})();
	// `stop` reports failures.
	running.catch(() => undefined);
	return {
		longest: () => state.longest,
		async stop() {
			state.stopped = true;
			await running;
		},
	};
}

const load = () =>
	loadavg()
		.map((average) => average.toFixed(2))
		.join(' ');

console.log(`${cpus().length} cores, node ${process.version}, load ${load()}`);
for (const kind of stores) {
	for (const [name, shape] of Object.entries(shapes)) {
		if (wanted.every((word) => `${kind}: ${name}`.includes(word))) await measure(kind, name, shape);
	}
}
console.log(`load ${load()}`);
