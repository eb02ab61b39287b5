import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Answer, Client } from './client.js';
import { eventually } from './eventually.js';
import type { Random } from './random.js';
import { answered, type Watcher } from './watcher.js';
import {
	emptyWorld,
	isHeld,
	type Keys,
	nextWrite,
	questionAbout,
	readWorld,
	roles,
	type World,
	type Write,
	within,
	worldWords,
	writerKeys,
} from './world.js';

/** Servers for writers. Each server may be down at any moment. */
export interface Targets {
	/** Management API clients with the environment's key, chosen at random like a load balancer. */
	readonly apis: readonly Client[];
	/** Path to the environment's facts. */
	readonly facts: string;
}

/** All writers' acknowledged revisions. */
export class Acknowledgements {
	readonly #seen = new Set<number>();
	newest = 0;

	/** Records the response to a write sent when `newest` was `before`. Throws if its revision is impossible. */
	take(write: string, answer: Answer<unknown>, before: number): number {
		const { status, revision } = answer;
		if (status < 200 || status > 299) throw new Error(`${write} answered ${status}: ${JSON.stringify(answer.body)}`);
		if (revision === undefined || !Number.isInteger(revision)) throw new Error(`${write} has no X-Revision`);
		if (this.#seen.has(revision))
			throw new Error(`${write} was acknowledged at revision ${revision}, like an earlier write`);
		if (revision <= before) throw new Error(`${write} came after revision ${before} and got revision ${revision}`);
		this.#seen.add(revision);
		this.newest = Math.max(this.newest, revision);
		return revision;
	}

	get count(): number {
		return this.#seen.size;
	}
}

/** A writer with its own world. */
export class Writer {
	unanswered = 0;
	verified = 0;
	readonly #keys: Keys;
	#world = emptyWorld;

	constructor(
		private readonly number: number,
		private readonly targets: Targets,
		private readonly random: Random,
		private readonly acknowledgements: Acknowledgements,
		private readonly watchers: readonly Watcher[],
	) {
		this.#keys = writerKeys(number);
	}

	/** Writes until stopped. Returns the world that the store must now contain. */
	async run(signal: AbortSignal): Promise<World> {
		while (!signal.aborted) {
			const revision = await this.#write(nextWrite(this.#world, this.#keys, this.random));
			if (revision !== undefined && this.random.chance(0.25)) await this.#verify(revision);
		}
		return this.#world;
	}

	/**
	 * Sends a write, and returns the acknowledged revision. If there is no response, finds out whether the write was
	 * committed.
	 */
	async #write(write: Write): Promise<number | undefined> {
		const { apis, facts } = this.targets;
		const before = this.acknowledgements.newest;
		const sent = this.random.pick(apis).send(write.method, facts + write.path, write.body);
		const answer = await answered(sent);
		if (answer !== undefined) {
			const name = `${write.method} ${write.path} ${JSON.stringify(write.body)}`;
			const revision = this.acknowledgements.take(name, answer, before);
			this.#world = write.after;
			return revision;
		}
		this.unanswered += 1;
		this.#world = await this.#found(write);
		return undefined;
	}

	/** Returns the current world after an unacknowledged write. The write must be either complete or absent. */
	async #found(write: Write): Promise<World> {
		const { apis, facts } = this.targets;
		// Writes in an environment run one after the other. After this write, the unanswered write is either committed or
		// lost.
		await settle(this.targets, `${this.number}`, this.acknowledgements);
		const stored = within(await eventually(() => readWorld(this.random.pick(apis), facts)), this.#keys);
		for (const world of [this.#world, write.after]) {
			if (isDeepStrictEqual(worldWords(world), worldWords(stored))) return world;
		}
		throw new Error(
			`after an unanswered ${write.method} ${write.path} the store contains neither the state before the write nor the state after it:\n` +
				`before: ${worldWords(this.#world).join(', ')}\nafter:  ${worldWords(write.after).join(', ')}\nstored: ${worldWords(stored).join(', ')}`,
		);
	}

	/** Compares a decision at the acknowledged revision with the world. Only this writer can change the decision. */
	async #verify(revision: number): Promise<void> {
		const asked = this.#question();
		const answer = await this.random.pick(this.watchers).ask(asked, revision);
		if (answer === undefined) return;
		const expected = isHeld(this.#world, asked);
		if (answer.body.allow !== expected) {
			throw new Error(
				`${JSON.stringify(asked)} at revision ${revision} must be ${expected}: ${JSON.stringify(answer.body)}`,
			);
		}
		this.verified += 1;
	}

	#question() {
		const { random } = this;
		const [user, role, tenant] = [random.pick(this.#keys.users), random.pick(roles), random.pick(this.#keys.tenants)];
		return questionAbout({ user, role, tenant });
	}
}

/**
 * Commits a write, with retries if needed. Earlier writes are no longer pending afterwards: each is committed or lost.
 * Returns the revision of the new write.
 */
export async function settle(
	{ apis, facts }: Targets,
	name: string,
	acknowledgements: Acknowledgements,
): Promise<number> {
	for (let attempt = 1; attempt < 2_000; attempt += 1) {
		const before = acknowledgements.newest;
		const body = { first_name: `${before}-${attempt}` };
		const answer = await answered(apis[attempt % apis.length]?.put(`${facts}/users/settle-${name}`, body));
		if (answer !== undefined) return acknowledgements.take(`settling ${name}`, answer, before);
		await sleep(25);
	}
	throw new Error('no API has answered for a long time');
}
