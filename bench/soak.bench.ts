import { createReadStream, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupBy } from '../compiler/group-by.js';
import { deploy, seedSchema } from '../test/support/deployment.js';
import { createRandom } from '../test/support/random.js';
import { secretFor } from '../test/support/stack.js';
import { removeFolder, temporaryFolder } from '../test/support/temporary.js';
import { postgresProcess } from './support/postgres-process.js';
import { Saturation } from './support/saturation.js';
import { SchemaWriter, SoakWriter, type Tally } from './support/soak-writer.js';

/**
 * Simulates hours of use in minutes. Writers change facts at a fixed pace, a writer changes the schema, and an oracle
 * verifies every decision. Runs on PostgreSQL, with API and decision point in separate processes. Runs only with a
 * duration:
 *
 *     MINUTES=30 npm run bench -- soak              # 3,000,000 checks, 200,000 fact changes, 200 schema changes
 *     MINUTES=10 KILLS=20 npm run bench -- soak     # also every 20 s `kill -9` on API, decision point or PostgreSQL
 *     MINUTES=20 SATURATE=16 npm run bench -- soak  # also checks over 16 connections at full speed, all logged
 *
 * At the end, compares the acknowledged changes with the store. Prints the memory use of both processes every 10 s,
 * compares the value after ten minutes (or a third of the duration) with the value at the end, and counts 5xx responses
 * and wrong decisions. `SEED` repeats the random choices of an earlier run.
 */

const minutes = Number(process.env['MINUTES'] ?? 0);
const kills = Number(process.env['KILLS'] ?? 0);
const connections = Number(process.env['SATURATE'] ?? 0);
const workers = process.env['WORKERS'] ?? '1';
const seed = Number(process.env['SEED'] ?? 1);
const writers = 16;
/** Number of fact changes, and of `SchemaWriter` turns with three changes each, in 30 minutes. */
const goal = { changes: 200_000, schemaTurns: 67 };

/** Returns resident memory in MiB. */
function residentMemory(pid: number | undefined): number {
	try {
		const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
		return Number(kilobytes) / 1024;
	} catch {
		return Number.NaN;
	}
}

/** Counts the lines in a file that may be larger than memory. */
async function countLines(path: string): Promise<number> {
	let lines = 0;
	for await (const chunk of createReadStream(path)) {
		for (const byte of chunk as Buffer) if (byte === 10) lines += 1;
	}
	return lines;
}

const median = (values: readonly number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function soak(): Promise<void> {
	const random = createRandom(seed);
	const folder = temporaryFolder();
	const logFile = join(folder, 'decisions.log');
	const logging = { PDP_DECISION_LOG: `file:${logFile}`, PDP_DECISION_LOG_SAMPLING: '[{"rate":1}]' };
	const deployment = await deploy('server', 'apart', {
		PDP_WORKERS: workers,
		...(connections > 0 ? logging : {}),
	});
	await seedSchema(deployment);
	const [api, pdp] = deployment.services;
	const tally: Tally = {
		checks: 0,
		changes: 0,
		schemaChanges: 0,
		unanswered: 0,
		failed: 0,
		wrong: 0,
		firstWrong: [],
	};
	const saturation = new Saturation(pdp?.url ?? '', secretFor('test-environment'), connections);
	const start = performance.now();
	const end = start + minutes * 60_000;
	const going = () => performance.now() < end;
	const memory: { readonly at: number; readonly api: number; readonly pdp: number }[] = [];

	/** Runs `turn` at a steady pace, `turnsInThirtyMinutes` times in 30 minutes. */
	const pace = async (turnsInThirtyMinutes: number, turn: () => Promise<void>) => {
		const every = (30 * 60_000) / turnsInThirtyMinutes;
		for (let next = performance.now(); going(); next = Math.max(next + every, performance.now() - 10_000)) {
			await sleep(Math.max(0, next - performance.now()));
			await turn();
		}
	};
	const watch = async () => {
		while (going()) {
			await sleep(Math.min(10_000, end - performance.now()));
			const at = (performance.now() - start) / 1000;
			memory.push({ at, api: residentMemory(api?.pid), pdp: residentMemory(pdp?.pid) });
			const { api: ofApi, pdp: ofPdp } = memory.at(-1) ?? { api: 0, pdp: 0 };
			console.log(
				`${at.toFixed(0).padStart(5)} s  API ${ofApi.toFixed(0)} MiB, decision point ${ofPdp.toFixed(0)} MiB; ` +
					`${tally.checks} checks, ${tally.changes} changes, ${tally.schemaChanges} of the schema; ` +
					`${tally.unanswered} unanswered, ${tally.failed} with 5xx, ${tally.wrong} wrong`,
			);
		}
	};
	const strike = async () => {
		const postgres = await postgresProcess(deployment.databaseUrl ?? '');
		const restart = async (service: typeof api) => {
			await service?.kill();
			await sleep(random.below(1_000));
			await service?.start();
		};
		const strikes = [() => restart(api), () => restart(pdp), () => postgres.killAndStart(random.below(1_000))];
		for (let round = 0; going(); round += 1) {
			await sleep(kills * 1000);
			if (going()) await strikes[round % strikes.length]?.();
		}
	};
	const site = { api: deployment.api, pdp: deployment.pdp };
	const schemaWriter = new SchemaWriter(site, random.fork(), tally);
	const soakWriters = Array.from(
		{ length: writers },
		(_, number) => new SoakWriter(number, site, random.fork(), tally),
	);
	const work = soakWriters.map((writer) => pace(goal.changes / writers, () => writer.turn()));
	try {
		await Promise.all([
			...work,
			pace(goal.schemaTurns, () => schemaWriter.turn()),
			watch(),
			...(connections > 0 ? [saturation.run(going)] : []),
			...(kills > 0 ? [strike()] : []),
		]);
		for (const writer of soakWriters) await writer.verifyStored();
		console.log(`${tally.changes} acknowledged changes compared with the store, ${tally.wrong} wrong`);
		// When the decision point stops, it forwards the remaining decisions.
		await pdp?.stop();
		if (connections > 0) {
			saturation.report();
			const logged = await countLines(logFile);
			const asked = saturation.answered + tally.checks;
			console.log(`${logged} decisions in the file, expected at least ${asked}`);
			if (logged < asked || pdp?.output().includes('decisions were not logged')) process.exitCode = 1;
		}
	} finally {
		await deployment.remove();
		removeFolder(folder);
	}
	const settledAfter = Math.min(600, minutes * 20);
	const early = memory.filter(({ at }) => at >= settledAfter && at < settledAfter + 60);
	const late = memory.slice(-Math.max(1, early.length));
	for (const process of ['api', 'pdp'] as const) {
		const [before, after] = [early, late].map((some) => median(some.map((sample) => sample[process])));
		if (before === undefined || after === undefined) continue;
		const change = ((after / before - 1) * 100).toFixed(1);
		console.log(
			`${process}: ${before.toFixed(0)} MiB after ${settledAfter} s, ${after.toFixed(0)} MiB at the end (${change} %)`,
		);
		// Memory varies with garbage collection; the minimum over a period shows growth.
		const settled = memory.filter(({ at }) => at >= settledAfter);
		const least = groupBy(settled, ({ at }) => Math.floor((at - settledAfter) / 300)).values();
		const shown = Array.from(least, (some) => Math.min(...some.map((sample) => sample[process])).toFixed(0));
		console.log(`${process}: minimum of each later five minutes, in MiB: ${shown.join(', ')}`);
	}
	console.log(JSON.stringify(tally, null, '\t'));
	if (tally.wrong > 0 || (kills === 0 && tally.failed + tally.unanswered > 0)) process.exitCode = 1;
}

const load = () =>
	loadavg()
		.map((average) => average.toFixed(2))
		.join(' ');

if (minutes > 0) {
	console.log(`${cpus().length} cores, node ${process.version}, load ${load()}, seed ${seed}`);
	await soak();
	console.log(`load ${load()}`);
} else {
	console.log('soak: set the duration, such as MINUTES=30');
}
