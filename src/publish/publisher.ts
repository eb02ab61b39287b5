import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { layout } from '../../compiler/index.js';
import { Failure, notFound } from '../failure.js';
import type { Logger } from '../log.js';
import { schemaOf } from '../store/model.js';
import type { PolicyShelf, Publications } from '../store/policy.js';
import type { SchemaChangeAfter } from '../store/policy-state.js';
import type { Store } from '../store/store.js';
import type { Assembler } from './assemble.js';
import { type Head, headAt, policyInForce } from './head.js';

/** A failed compilation is tried again after this, in milliseconds: its cause may have been the machine's. */
const retryAfter = 30_000;
/**
 * How long a revision waits for its policy, in milliseconds from the change of the schema, before it goes out with the
 * policy before. Facts must not wait for long: a revocation may be among them. What the change takes away is suspended
 * until its policy comes, and what is new is denied.
 */
const usualPatience = 2_000;

/**
 * Sees to it that every schema revision is compiled, one environment at a time in this process and, on a server, one
 * process at a time. A schema that does not compile leaves the policy before it in force.
 */
export class Publisher {
	/** `gone` is emitted with the id of an environment that was found to be no more. */
	readonly events = new EventEmitter<{ gone: [environmentId: string] }>();
	readonly #running = new Map<string, Promise<void>>();
	/** Environments whose commits are being looked after, and those of them that had another one meanwhile. */
	readonly #following = new Map<string, Promise<void>>();
	readonly #again = new Set<string>();
	/** Environments whose policy this process has held against its own Rego and OPA, which may be newer. */
	readonly #verified = new Set<string>();
	#queue: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly store: Store,
		private readonly shelf: PolicyShelf,
		private readonly assembler: Assembler,
		private readonly log: Logger,
		private readonly patience = usualPatience,
	) {}

	/** Compiles schemas as they are committed, without waiting for someone to ask. */
	start(): void {
		this.store.committed.on('environment', this.#follow);
	}

	/** Ends that; resolves when nothing is being compiled any more. */
	async stop(): Promise<void> {
		this.store.committed.off('environment', this.#follow);
		this.#again.clear();
		await Promise.allSettled([...this.#following.values(), ...this.#running.values()]);
	}

	/**
	 * Where an environment is, with its newest schema compiled, if that does not take too long while another policy is in
	 * force. Throws `not_found`.
	 */
	async head(environmentId: string): Promise<Head> {
		for (;;) {
			const counters = await this.store.counters(environmentId);
			if (counters === null) throw notFound('Environment', environmentId);
			const publications = await this.shelf.publications(environmentId);
			const changeAfter = (revision: number) => this.store.schemaChangeAfter(environmentId, revision);
			const head = await headAt(counters, publications, changeAfter, false);
			if (head !== null && this.#verified.has(environmentId)) {
				if (this.#isDueAgain(publications)) this.#publish(environmentId).catch(() => undefined);
				return head;
			}
			const compiled = this.#publish(environmentId);
			const late = await headAt(counters, publications, changeAfter, true);
			if (late === null || late.digest === null) {
				await compiled;
				continue;
			}
			if (!(await this.#isDoneInTime(compiled, await this.#waitingSince(publications, changeAfter)))) return late;
		}
	}

	/** When the first change of the schema was made that nobody has tried to compile; `null` when there is none. */
	async #waitingSince({ live, failed }: Publications, changeAfter: SchemaChangeAfter): Promise<Date | null> {
		const tried = Math.max(live?.schema_revision ?? 0, failed?.failed_revision ?? 0);
		return (await changeAfter(tried))?.created_at ?? null;
	}

	/** Whether a compilation ends before revisions may wait no longer for what changed at that time. */
	async #isDoneInTime(compiled: Promise<void>, since: Date | null): Promise<boolean> {
		const waited = since === null ? 0 : this.store.clock.now().getTime() - since.getTime();
		const left = Math.min(Math.max(this.patience - waited, 0), this.patience);
		const over = new AbortController();
		const tooLong = sleep(left, false, { signal: over.signal }).catch(() => true);
		return Promise.race([compiled.then(() => true), tooLong]).finally(() => over.abort());
	}

	#isDueAgain({ failed }: Publications): boolean {
		return failed !== null && this.store.clock.now().getTime() - failed.failed_at.getTime() > retryAfter;
	}

	/** Looks after an environment that has news; news that come meanwhile are looked after once, afterwards. */
	readonly #follow = (environmentId: string): void => {
		if (this.#following.has(environmentId)) {
			this.#again.add(environmentId);
			return;
		}
		const looking = this.#look(environmentId).finally(() => {
			this.#following.delete(environmentId);
			if (this.#again.delete(environmentId)) this.#follow(environmentId);
		});
		this.#following.set(environmentId, looking);
	};

	async #look(environmentId: string): Promise<void> {
		try {
			await this.head(environmentId);
		} catch (error) {
			if (error instanceof Failure && error.code === 'not_found') {
				this.#verified.delete(environmentId);
				this.events.emit('gone', environmentId);
			} else {
				this.log.error({ environment: environmentId, error }, 'a committed schema could not be published');
			}
		}
	}

	#publish(environmentId: string): Promise<void> {
		const running = this.#running.get(environmentId);
		if (running !== undefined) return running;
		// One after another: each compilation runs a process of its own, and the machine is shared with decisions.
		const next = this.#queue.then(() => this.store.alone(environmentId, () => this.#compile(environmentId)));
		this.#queue = next.catch(() => undefined);
		const publishing = next.finally(() => this.#running.delete(environmentId));
		// Whoever waits for it hears of a failure; nobody may.
		publishing.catch(() => undefined);
		this.#running.set(environmentId, publishing);
		return publishing;
	}

	async #compile(environmentId: string): Promise<void> {
		const started = performance.now();
		const { schema, schema_revision } = await this.store.snapshot(environmentId, async (unit, environment) => ({
			schema: await schemaOf(unit),
			schema_revision: environment.schema_revision,
		}));
		const publications = await this.shelf.publications(environmentId);
		const assembled = await this.assembler.assemble(schema);
		const now = this.store.clock.now();
		const facts = { environment: environmentId, schema_revision };
		if (assembled.digest === null) {
			const { failure } = assembled;
			await this.shelf.fail(environmentId, { failure, failed_revision: schema_revision, failed_at: now });
			this.log.error({ ...facts, failure }, 'a schema cannot be compiled: what it takes away stays suspended');
			this.store.committed.emit('environment', environmentId);
		} else {
			const { digest, left_out, built } = assembled;
			const live = policyInForce(publications);
			const unchanged =
				publications.failed === null && live?.schema_revision === schema_revision && live.digest === digest;
			const published = { digest, schema_revision, published_at: now, layout };
			// First, so that whatever is in force can be read; also what was published by a version that kept no history.
			await this.shelf.history.remember(environmentId, published, assembled.schema);
			if (!unchanged) {
				await this.shelf.publish(environmentId, { ...published, left_out }, assembled.schema);
				// Those who went on with the policy before may wait for this one.
				this.store.committed.emit('environment', environmentId);
			}
			if (left_out.length > 0) this.log.error({ ...facts, left_out }, 'objects were left out of a policy');
			const milliseconds = Math.round(performance.now() - started);
			this.log.debug({ ...facts, digest, built, milliseconds }, 'published a schema');
		}
		this.#verified.add(environmentId);
	}
}
