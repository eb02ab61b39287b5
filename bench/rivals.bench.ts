import { casbin, cedar, regolithEngine } from './rivals/deciders.js';
import { kinds, type Question, questions } from './rivals/world.js';
import { quantile } from './support/quantile.js';

/**
 * Compares checks with rival engines on the same world: 10,000 users, 50,000 roles, 20,000 instances, 50 user sets and
 * 50 resource sets. Runs the engines in this process in turns; `bench/checks.bench.ts` compares them over HTTP. Casbin
 * has an enforcer for each permission. Cedar receives the entities with each check, as its package requires.
 * Relationships are not equal work: casbin and cedar are given the folder of a document from a map, while Regolith
 * derives the role on the document. Prints medians over several rounds.
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
	console.log('one check in the process, microseconds, p50');
	for (const [kind, all] of asked) {
		const times = new Map<string, number[]>(Object.keys(deciders).map((name) => [name, []]));
		for (let round = 0; round < rounds * 3; round += 1) {
			for (const [name, decide] of Object.entries(deciders)) {
				for (const { body } of all) {
					const start = process.hrtime.bigint();
					decide(body);
					times.get(name)?.push(Number(process.hrtime.bigint() - start) / 1_000);
				}
			}
		}
		const of = (name: string) => median(times.get(name) ?? []);
		const shown = Object.keys(deciders).map((name) => `${name} ${of(name).toFixed(2)}`);
		const unequal = kind === 'rebac' || kind === 'mixed' ? ' (not equal: rivals are given the folder)' : '';
		const ratios = ['casbin', 'cedar'].map((name) => `${(of(name) / of('regolith')).toFixed(1)} x faster than ${name}`);
		console.log(`  ${kind.padEnd(6)} ${shown.join(', ')}: ${ratios.join(', ')}${unequal}`);
	}
}

await compareInProcess();
