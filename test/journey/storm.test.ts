// @alone @both @long

import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { type Deployment, deploy, reached, type Shape, seedSchema } from '../support/deployment.js';
import { onAllStores } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import type { StoreKind } from '../support/postgres.js';
import { type Random, seeded } from '../support/random.js';
import type { Service } from '../support/service.js';
import { facts } from '../support/stack.js';
import { type Aftermath, type Storm, startStorm } from '../support/storm.js';
import { casesOfTier, inRest } from '../support/tier.js';
import { readWorld, union, type World, worldQuestions, worldWords, writerKeys } from '../support/world.js';

/**
 * Kills processes with `kill -9` during many writes, and restarts them in any order. No acknowledged write is missing
 * from the store or from decisions. `TEST_SEED=<seed>` repeats a run's writes and choices, but not the kill times.
 */

const writers = 4;

/**
 * Processes to kill at the same time, as indexes into `services`. In the shape `apart`, these are the API, the decision
 * point, and both. In the shape `together`, it is the only process.
 */
const strikes: Readonly<Record<Shape, readonly (readonly number[])[]>> = {
	apart: [[0], [1], [0, 1]],
	together: [[0], [0]],
};

interface StormCase {
	readonly kind: StoreKind;
	readonly shape: Shape;
}

/** Cases that include each store and each shape once. `npm run test:all` runs the whole matrix. */
const usual: readonly StormCase[] = [
	{ kind: 'server', shape: 'apart' },
	{ kind: 'embedded', shape: 'together' },
];

const others: readonly StormCase[] = [
	{ kind: 'embedded', shape: 'apart' },
	{ kind: 'server', shape: 'together' },
];

for (const { kind, shape } of onAllStores ? [...usual, ...others] : casesOfTier(usual)) {
	test(`under random load on the ${kind} store, with processes ${shape}, kill -9 loses no acknowledged write`, async (t) => {
		await seeded(t, async (random) => {
			const deployment = await deploy(kind, shape);
			t.teardown(deployment.remove);
			await seedSchema(deployment);
			const before = await readWorld(deployment.api, facts);
			const storm = startStorm({ apis: [deployment.api], facts }, [deployment.pdp], writers, random.fork());
			for (const places of random.shuffled(strikes[shape])) {
				const victims = places.flatMap((place) => deployment.services[place] ?? []);
				await strike(storm, victims, random);
			}
			await storm.more(20);
			const aftermath = await storm.stop();
			t.log(
				`${aftermath.acknowledged} acknowledged, ${aftermath.unanswered} unanswered, ${aftermath.verified} verified`,
			);
			t.true(aftermath.unanswered > 0, 'no kill interrupted a write: the storm is too weak');
			t.is(aftermath.settled, aftermath.revision, 'the newest acknowledged revision is the newest revision');
			t.true(aftermath.verified > 0, 'no check was sent during the storm');
			await assertStored(t, deployment, union([before, ...aftermath.worlds]));
			await assertDecided(t, deployment, aftermath);
			for (const service of deployment.services) await service.stop();
			await assertLogged(t, deployment, union([before, ...aftermath.worlds]), aftermath.settled);
		});
	});
}

inRest('a decision point survives its API, and waits for it if it starts first', async (t) => {
	const deployment = await deploy('server', 'apart');
	t.teardown(deployment.remove);
	const { api, pdp, services } = deployment;
	await seedSchema(deployment);
	const ask = () => pdp.post('/allowed', { user: 'alice', action: 'read', resource: 'document' });
	const last = await ask();
	t.is(last.body['allow'], true);

	await services[0]?.kill();
	const health = await eventually(
		() => pdp.get('/healthy'),
		({ body }) => body['online'] === false,
	);
	t.like(health.body, { status: 'ok', state: 'stale', revision: last.revision });
	t.is((await pdp.get('/ready')).status, 200);
	for (let asked = 0; asked < 20; asked += 1) {
		t.like(await ask(), { status: 200, revision: last.revision, body: { allow: true } });
	}

	await services[0]?.start();
	const removal = { user: 'alice', role: 'viewer', tenant: 'default' };
	const removed = await api.delete(`${facts}/role_assignments`, removal);
	t.is(removed.status, 204);
	t.is(removed.revision, Number(last.revision) + 1);
	await reached(pdp, removed.revision);
	t.like(await ask(), { status: 200, body: { allow: false } });
	t.like((await pdp.get('/healthy')).body, { state: 'ready', online: true });

	await Promise.all(services.map((service) => service.kill()));
	await services[1]?.start();
	t.is((await pdp.get('/ready')).status, 503);
	t.is((await ask()).status, 503, 'no decision is made without data');
	await services[0]?.start();
	await eventually(
		() => pdp.get('/ready'),
		({ status }) => status === 200,
	);
	t.like(await ask(), { status: 200, revision: removed.revision, body: { allow: false } });
});

/** Kills the processes during writes, and restarts them in any order. */
async function strike(storm: Storm, victims: readonly Service[], random: Random): Promise<void> {
	await storm.more(20 + random.below(40));
	await sleep(random.below(20));
	await Promise.all(victims.map((victim) => victim.kill()));
	await Promise.all(random.shuffled(victims).map((victim) => victim.start()));
}

async function assertStored(t: ExecutionContext, { api }: Deployment, expected: World): Promise<void> {
	t.deepEqual(facing(await readWorld(api, facts)), facing(expected));
}

/**
 * Asserts that the decision point, at the storm's last revision, decides every writer's checks as expected.
 */
async function assertDecided(t: ExecutionContext, { pdp }: Deployment, { worlds, settled }: Aftermath): Promise<void> {
	await reached(pdp, settled);
	for (const [writer, world] of worlds.entries()) {
		const questions = worldQuestions(writerKeys(writer), world);
		const answer = await pdp.post<{ readonly allow: readonly { readonly allow: boolean }[] }>(
			'/allowed/bulk',
			questions.map(({ asked }) => asked),
		);
		t.is(answer.status, 200);
		const answers = questions.map(({ asked }, index) => ({ asked, allow: answer.body.allow[index]?.allow }));
		t.deepEqual(answers, [...questions]);
	}
}

/**
 * Asserts that the log contains every revision exactly once, and that applying all its changes results in the store's
 * contents.
 */
async function assertLogged(t: ExecutionContext, deployment: Deployment, expected: World, settled: number) {
	const database = await deployment.database();
	try {
		const scope = database.knex('environments').select('id').where({ key: 'dev' });
		const [environment] = await database.knex('environments').select('revision').where({ key: 'dev' });
		t.is(environment?.revision, settled);
		const revisions: { readonly revision: number }[] = await database
			.knex('changes')
			.distinct('revision')
			.whereIn('environment_id', scope)
			.orderBy('revision');
		t.deepEqual(
			revisions.map(({ revision }) => revision),
			Array.from({ length: settled }, (_, index) => index + 1),
		);
		const changes: Logged[] = await database
			.knex('changes')
			.select('kind', 'operation', 'key')
			.whereIn('environment_id', scope)
			.whereIn('kind', ['user', 'tenant', 'role_assignment'])
			.orderBy(['revision', 'position']);
		t.deepEqual(retold(changes), facing(expected));
	} finally {
		await database.close();
	}
}

interface Logged {
	readonly kind: 'user' | 'tenant' | 'role_assignment';
	readonly operation: 'create' | 'update' | 'delete';
	readonly key: string;
}

/** Returns the world described by a log, in words. */
function retold(changes: readonly Logged[]): readonly string[] {
	const words = new Set<string>();
	for (const { kind, operation, key } of changes) {
		const word = `${kind === 'role_assignment' ? 'held' : kind} ${key}`;
		if (operation === 'delete') words.delete(word);
		else words.add(word);
	}
	return withoutSettling([...words]).sort();
}

function facing(world: World): readonly string[] {
	return withoutSettling(worldWords(world));
}

/** Removes the users that writers create only to settle earlier writes. */
function withoutSettling(words: readonly string[]): string[] {
	return words.filter((word) => !word.startsWith('user settle-'));
}
