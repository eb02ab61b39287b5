import { Failure, notFound } from '../failure.js';
import type { Logger } from '../log.js';
import { schemaOf } from '../store/model.js';
import type { PolicyShelf, Publication, Publications } from '../store/policy.js';
import type { Store } from '../store/store.js';
import type { Assembler } from './assemble.js';

/** A failed compilation is tried again after this, in milliseconds: its cause may have been the machine's. */
const retryAfter = 30_000;

/** Where an environment is: its newest revision and the policy that is in force there. */
export interface Head {
	readonly revision: number;
	/** The newest schema revision that was compiled or failed to; the policy is in force from there on. */
	readonly schema_revision: number;
	/** `null` while no policy was ever compiled. */
	readonly digest: string | null;
	/** Why the newest schema is not in force; `null` when it is. */
	readonly failure: Publication['failure'];
}

/**
 * Sees to it that every schema revision is compiled, one environment at a time in this process and, on a server, one
 * process at a time. A schema that does not compile leaves the policy before it in force.
 */
export class Publisher {
	readonly #running = new Map<string, Promise<void>>();
	/** Environments whose commits are being looked after, and those of them that had another one meanwhile. */
	readonly #following = new Map<string, Promise<void>>();
	readonly #again = new Set<string>();
	/** Environments whose policy this process has held against its own library of Rego, which may be newer. */
	readonly #verified = new Set<string>();
	#queue: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly store: Store,
		private readonly shelf: PolicyShelf,
		private readonly assembler: Assembler,
		private readonly log: Logger,
	) {}

	/** Compiles schemas as they are committed, without waiting for someone to ask. */
	start(): void {
		this.store.committed.on('environment', this.#follow);
	}

	/** Ends that; resolves when nothing is being compiled any more. */
	async stop(): Promise<void> {
		this.store.committed.off('environment', this.#follow);
		await Promise.allSettled([...this.#following.values(), ...this.#running.values()]);
	}

	/** Where an environment is, with its newest schema compiled. Throws `not_found`. */
	async head(environmentId: string): Promise<Head> {
		for (;;) {
			const counters = await this.store.counters(environmentId);
			if (counters === null) throw notFound('Environment', environmentId);
			const publications = await this.shelf.publications(environmentId);
			const head = this.headOf(counters, publications);
			if (head !== null && this.#verified.has(environmentId)) return head;
			await this.#publish(environmentId);
		}
	}

	/** The head that counters and publications stand for, or `null` when the newest schema has yet to be compiled. */
	headOf(
		counters: { readonly revision: number; readonly schema_revision: number },
		{ newest, live }: Publications,
	): Head | null {
		if (newest === null || newest.schema_revision < counters.schema_revision) return null;
		const age = this.store.clock.now().getTime() - newest.published_at.getTime();
		if (newest.failure !== null && age > retryAfter) return null;
		const { revision } = counters;
		const { schema_revision, failure } = newest;
		return { revision, schema_revision, digest: live?.digest ?? null, failure };
	}

	/** Looks after an environment that has news; news that come meanwhile are looked after once, afterwards. */
	readonly #follow = (environmentId: string): void => {
		const looking = this.#following.get(environmentId);
		if (looking !== undefined) {
			this.#again.add(environmentId);
			return;
		}
		const look = async () => {
			do {
				this.#again.delete(environmentId);
				await this.head(environmentId);
			} while (this.#again.has(environmentId));
		};
		const next = look()
			.catch((error: unknown) => {
				const gone = error instanceof Failure && error.code === 'not_found';
				if (!gone) this.log.error({ environment: environmentId, error }, 'a committed schema could not be published');
			})
			.finally(() => this.#following.delete(environmentId));
		this.#following.set(environmentId, next);
	};

	#publish(environmentId: string): Promise<void> {
		const running = this.#running.get(environmentId);
		if (running !== undefined) return running;
		// One after another: each compilation runs a process of its own, and the machine is shared with decisions.
		const next = this.#queue.then(() => this.store.alone(environmentId, () => this.#compile(environmentId)));
		this.#queue = next.catch(() => undefined);
		const publishing = next.finally(() => this.#running.delete(environmentId));
		this.#running.set(environmentId, publishing);
		return publishing;
	}

	async #compile(environmentId: string): Promise<void> {
		const started = performance.now();
		const { schema, schema_revision } = await this.store.snapshot(environmentId, async (unit, environment) => ({
			schema: await schemaOf(unit),
			schema_revision: environment.schema_revision,
		}));
		const { newest } = await this.shelf.publications(environmentId);
		const assembled = await this.assembler.assemble(schema);
		const unchanged = newest?.schema_revision === schema_revision && newest.digest === assembled.digest;
		if (!unchanged || assembled.failure !== null) {
			const { digest, failure } = assembled;
			await this.shelf.note(environmentId, { schema_revision, digest, failure, published_at: this.store.clock.now() });
		}
		this.#verified.add(environmentId);
		const milliseconds = Math.round(performance.now() - started);
		const facts = { environment: environmentId, schema_revision, milliseconds };
		if (assembled.failure === null) this.log.debug({ ...facts, built: assembled.built }, 'published a schema');
		else
			this.log.error(
				{ ...facts, failure: assembled.failure },
				'a schema cannot be compiled: the policy before it stays',
			);
	}
}
