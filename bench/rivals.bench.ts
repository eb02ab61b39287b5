import { casbin, cedar, regolithEngine } from './rivals/deciders.js';
import { kinds, type Question, questions } from './rivals/world.js';
import { quantile } from './support/quantile.js';

/**
 * Compares checks with rival engines on the same world: 10,000 users, 50,000 roles, 20,000 instances, 50 user sets and
 * 50 resource sets. Runs the engines in this process in turns; `bench/checks.bench.ts` compares them over HTTP. Casbin
 * has an enforcer for each permission, and derives the document role from the folder role, like Regolith. Cedar
 * receives the entities with each check, as its package requires, and is given the folder from a map. Prints the median
 * single-check time, and a round's median CPU time per check. For all kinds together, only the CPU time is comparable:
 * the kinds have very different costs, so the median single-check time shows only one kind.
 */

const rounds = Number(process.env['ROUNDS'] ?? 3);

const median = (values: readonly number[]) => quantile(values, 0.5);

async function compareInProcess(): Promise<void> {
	const deciders = { casbin: await casbin(), cedar: await cedar(), regolith: (await regolithEngine()).decide };
	const asked = new Map<string, readonly Question[]>(kinds.map((kind) => [kind, questions(kind, 600)]));
	asked.set(
		'mixed',
		[...asked.values()].flat().toSorted((a, b) => a.body.user.localeCompare(b.body.user)),
	);
	for (const [name, decide] of Object.entries(deciders)) {
		for (const question of [...asked.values()].flat()) {
			if (decide(question.body) !== question.allow) throw new Error(`${name}: ${JSON.stringify(question)}`);
		}
	}
	console.log(
		'one check in the process, microseconds: CPU time on average (p50 of the elapsed time): CPU time relative to regolith',
	);
	for (const [kind, all] of asked) {
		const times = new Map<string, number[]>(Object.keys(deciders).map((name) => [name, []]));
		const means = new Map<string, number[]>(Object.keys(deciders).map((name) => [name, []]));
		for (let round = 0; round < rounds * 3; round += 1) {
			for (const [name, decide] of Object.entries(deciders)) {
				for (const { body } of all) {
					const start = process.hrtime.bigint();
					decide(body);
					times.get(name)?.push(Number(process.hrtime.bigint() - start) / 1_000);
				}
				const before = process.cpuUsage();
				for (const { body } of all) decide(body);
				const { user, system } = process.cpuUsage(before);
				means.get(name)?.push((user + system) / all.length);
			}
		}
		const mean = (name: string) => median(means.get(name) ?? []);
		const shown = Object.keys(deciders).map(
			(name) => `${name} ${mean(name).toFixed(2)} (${median(times.get(name) ?? []).toFixed(2)})`,
		);
		const ratios = ['casbin', 'cedar'].map((name) => `${name} ${(mean(name) / mean('regolith')).toFixed(1)} times`);
		console.log(`  ${kind.padEnd(6)} ${shown.join(', ')}: ${ratios.join(', ')}`);
	}
}

await compareInProcess();
