import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { client } from '../test/support/client.js';
import type { StoreKind } from '../test/support/postgres.js';
import { accepted, portions, startApi } from './support/api.js';
import type { Kind, Load, Outcome } from './support/load.js';

/**
 * Measures writes per second over real HTTP on both stores. The API and the writers run in separate processes.
 * PostgreSQL runs with its default durability. Targets: at least 500 single writes per second on PostgreSQL, and 10,000
 * users by bulk in under 5 s. Prints medians over several rounds.
 *
 * `WRITES=server,mixed` selects scenarios whose names contain all these words. `EMBEDDED_FSYNC=true` syncs the embedded
 * database.
 */

const writers = 16;
const seconds = Number(process.env['SECONDS'] ?? 4);
const rounds = Number(process.env['ROUNDS'] ?? 5);
const wanted = (process.env['WRITES'] ?? '').split(',').filter(Boolean);
const kinds: readonly Kind[] = ['assignments', 'users', 'mixed'];
const bulkUsers = 10_000;

async function loaded(load: Load): Promise<Outcome> {
	const child = fork(fileURLToPath(new URL('support/load.js', import.meta.url)));
	child.send(load);
	const [outcome] = (await once(child, 'message')) as [Outcome];
	if (outcome.refused.length > 0) throw new Error(`not every write succeeded: ${outcome.refused.join('\n')}`);
	return outcome;
}

const median = (values: readonly number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measureSingles(kind: StoreKind, environments: number): Promise<void> {
	const titles = kinds.map((load) => ({ load, title: `${kind}: ${load}, ${environments} environments` }));
	const chosen = titles.filter(({ title }) => wanted.every((word) => title.includes(word)));
	if (chosen.length === 0) return;
	const api = await startApi(kind);
	const outcomes = new Map<string, Outcome[]>();
	// The kinds of writes alternate, so other load on the machine affects all of them. The first round is a warm-up.
	for (let round = 0; round <= rounds; round += 1) {
		for (const { load, title } of chosen) {
			const places = await Promise.all(Array.from({ length: environments }, () => api.place()));
			const common = { url: api.url, places, kind: load, writers, name: `r${round}` };
			const outcome = await loaded({ ...common, seconds: round === 0 ? 1 : seconds });
			if (round > 0) outcomes.set(title, [...(outcomes.get(title) ?? []), outcome]);
		}
	}
	await api.stop();
	for (const [title, all] of outcomes) {
		const figure = (select: (outcome: Outcome) => number) => median(all.map(select));
		const rates = all.map(({ rate }) => rate.toFixed(0)).join(' ');
		console.log(
			`${title.padEnd(42)} ${figure(({ rate }) => rate)
				.toFixed(0)
				.padStart(
					5,
				)} writes/s, p50 ${figure(({ p50 }) => p50).toFixed(1)} ms, p99 ${figure(({ p99 }) => p99).toFixed(1)} ms (${rates})`,
		);
	}
}

async function measureBulk(kind: StoreKind): Promise<void> {
	if (!wanted.every((word) => `${kind}: bulk`.includes(word))) return;
	const api = await startApi(kind);
	const figures = new Map<string, number[]>();
	const timed = async (title: string, work: () => Promise<unknown>) => {
		const started = performance.now();
		await work();
		figures.set(title, [...(figures.get(title) ?? []), performance.now() - started]);
	};
	for (let round = 0; round < rounds; round += 1) {
		const { facts, secret } = await api.place();
		const http = client(api.url, secret);
		const bodies = Array.from({ length: bulkUsers }, (_, index) => {
			const key = `user-${index}@example.com`;
			return { key, email: key, first_name: 'A', last_name: 'B', attributes: { department: 'sales', age: 42 } };
		});
		await timed(`POST ${bulkUsers} users that are new`, async () => {
			for (const operations of portions(bodies, 3000)) accepted(await http.post(bulk(facts), { operations }));
		});
		const changed = bodies.map((body) => ({ ...body, first_name: 'C' }));
		await timed(`PUT ${bulkUsers} users that change`, async () => {
			for (const operations of portions(changed, 3000)) accepted(await http.put(bulk(facts), { operations }));
		});
		const renamed = bodies.map((body) => ({ ...body, key: `new-${body.key}` }));
		await timed(`PUT ${bulkUsers} users that are new`, async () => {
			for (const operations of portions(renamed, 3000)) accepted(await http.put(bulk(facts), { operations }));
		});
		const given = bodies.map(({ key }) => ({ user: key, role: 'viewer', tenant: 'default' }));
		await timed(`POST ${bulkUsers} role assignments`, async () => {
			for (const rows of portions(given, 2000)) accepted(await http.post(`${facts}/role_assignments/bulk`, rows));
		});
	}
	await api.stop();
	for (const [title, times] of figures) {
		console.log(
			`${`${kind}: ${title}`.padEnd(42)} ${(median(times) / 1000).toFixed(2)} s (${times.map((time) => (time / 1000).toFixed(2)).join(' ')})`,
		);
	}
}

const bulk = (facts: string) => `${facts}/bulk/users`;

console.log(
	`${cpus().length} cores, node ${process.version}, load ${loadavg()
		.map((load) => load.toFixed(2))
		.join(' ')}`,
);
for (const kind of ['server', 'embedded'] satisfies StoreKind[]) {
	for (const environments of [1, 4]) await measureSingles(kind, environments);
	await measureBulk(kind);
}
console.log(
	`load ${loadavg()
		.map((load) => load.toFixed(2))
		.join(' ')}`,
);
