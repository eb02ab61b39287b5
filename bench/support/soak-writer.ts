import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Answer, Client } from '../../test/support/client.js';
import { eventually } from '../../test/support/eventually.js';
import type { Random } from '../../test/support/random.js';
import { facts, schema } from '../../test/support/stack.js';
import { answered } from '../../test/support/watcher.js';
import {
	emptyWorld,
	nextWrite,
	readWorld,
	type World,
	within,
	worldQuestions,
	worldWords,
	writerKeys,
} from '../../test/support/world.js';

/** Results of a soak so far. The numbers never decrease. */
export interface Tally {
	checks: number;
	changes: number;
	schemaChanges: number;
	/** Requests without a response, and 5xx responses. */
	unanswered: number;
	failed: number;
	/** Number of decisions and responses that contradict the oracle. The first ten are described in `firstWrong`. */
	wrong: number;
	readonly firstWrong: string[];
}

/** Servers that writers use. */
export interface Site {
	readonly api: Client;
	readonly pdp: Client;
}

/** A writer that knows the correct decisions after each write, and verifies every decision. */
export class SoakWriter {
	readonly #keys;
	#world: World = emptyWorld;

	constructor(
		private readonly number: number,
		private readonly site: Site,
		private readonly random: Random,
		private readonly tally: Tally,
	) {
		this.#keys = writerKeys(number);
	}

	/** Changes a fact, and sometimes sends every check about this writer's data. */
	async turn(): Promise<void> {
		const write = nextWrite(this.#world, this.#keys, this.random);
		const answer = await noted(this.tally, this.site.api.send(write.method, facts + write.path, write.body));
		if (answer === undefined) {
			this.#world = await this.#found([this.#world, write.after]);
			return;
		}
		if (answer.status > 299) {
			wrong(this.tally, `${write.method} ${write.path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
			return;
		}
		this.#world = write.after;
		this.tally.changes += 1;
		if (this.random.chance(0.5)) await this.#check(answer.revision);
	}

	/** Verifies that the store contains exactly the acknowledged writes from this writer. */
	async verifyStored(): Promise<void> {
		await this.#found([this.#world]);
	}

	/**
	 * Only this writer changes the data behind these decisions. Therefore each check has a single correct decision, at
	 * `revision` and at later revisions.
	 */
	async #check(revision: number | undefined): Promise<void> {
		const questions = worldQuestions(this.#keys, this.#world);
		const headers = { 'x-min-revision': String(revision) };
		const asked = questions.map((question) => question.asked);
		const answer = await noted(
			this.tally,
			this.site.pdp.post<{ readonly allow: readonly { readonly allow: boolean }[] }>('/allowed/bulk', asked, {
				headers,
			}),
		);
		if (answer === undefined) return;
		for (const [index, question] of questions.entries()) {
			this.tally.checks += 1;
			const given = answer.body.allow[index]?.allow;
			if (given === question.allow) continue;
			wrong(this.tally, `${JSON.stringify(question)} at ${answer.revision}, asked at ${revision}: ${given}`);
		}
	}

	/** Determines the stored world after a write with an unknown outcome. */
	async #found(possible: readonly World[]): Promise<World> {
		await settled(this.site.api, `${facts}/users/settle-${this.number}`, this.random);
		const stored = within(await eventually(() => readWorld(this.site.api, facts), Boolean, patience), this.#keys);
		const found = possible.find((world) => isDeepStrictEqual(worldWords(world), worldWords(stored)));
		if (found === undefined)
			wrong(this.tally, `the store differs from the acknowledged writes of writer ${this.number}`);
		return found ?? stored;
	}
}

/** Changes the schema by one type or permission at a time. Checks that granting and removing access take effect. */
export class SchemaWriter {
	#count = 0;

	constructor(
		private readonly site: Site,
		private readonly random: Random,
		private readonly tally: Tally,
	) {}

	/** Makes three changes: adds a type, grants its action to a role, and deletes the type. */
	async turn(): Promise<void> {
		this.#count += 1;
		const key = `extra-${this.#count}`;
		await this.#change('post', `${schema}/resources`, { key, name: key, actions: { read: {} } });
		const given = await this.#change('post', `${schema}/roles/viewer/permissions`, { permissions: [`${key}:read`] });
		await this.#check(key, given, true);
		const gone = await this.#change('delete', `${schema}/resources/${key}`);
		await this.#check(key, gone, false);
	}

	/** Repeats a change until it gets a response. The change counts as done if its result already exists. */
	async #change(method: 'post' | 'delete', path: string, body?: unknown): Promise<number> {
		for (;;) {
			const answer = await noted(this.tally, this.site.api[method](path, body));
			if (answer !== undefined && (answer.status < 300 || answer.status === 409 || answer.status === 404)) {
				this.tally.schemaChanges += 1;
				return answer.revision ?? settled(this.site.api, `${facts}/users/settle-schema`, this.random);
			}
			await sleep(250);
		}
	}

	/** Compiling the policy may take time. A 503 until then is not a wrong decision. */
	async #check(type: string, revision: number, expected: boolean): Promise<void> {
		const asked = { user: 'alice', action: 'read', resource: { type, tenant: 'default' } };
		const headers = { 'x-min-revision': String(revision) };
		const answer = await noted(this.tally, this.site.pdp.post('/allowed', asked, { headers }));
		if (answer === undefined) return;
		this.tally.checks += 1;
		if (answer.body['allow'] !== expected) {
			wrong(this.tally, `${type} at ${answer.revision}, asked at ${revision}, must be ${expected}`);
		}
	}
}

const patience = { deadline: 120_000, interval: 100 };

/** Repeats a write until it is committed. Afterwards, all earlier writes are either committed or lost. */
async function settled(api: Client, path: string, random: Random): Promise<number> {
	const settle = () => answered(api.put(path, { first_name: String(random.below(2 ** 32)) }));
	const answer = await eventually(settle, (given) => given !== undefined && given.status < 300, patience);
	return answer?.revision ?? 0;
}

/** Returns a response. If the response is missing or 5xx, counts this and returns `undefined`. */
async function noted<Body>(tally: Tally, sent: Promise<Answer<Body>>): Promise<Answer<Body> | undefined> {
	const answer = await answered(sent);
	if (answer === undefined) tally.unanswered += 1;
	else if (answer.status >= 500) tally.failed += 1;
	return answer === undefined || answer.status >= 500 ? undefined : answer;
}

function wrong(tally: Tally, what: string): void {
	tally.wrong += 1;
	if (tally.firstWrong.length < 10) tally.firstWrong.push(what);
}
