import { EventEmitter } from 'node:events';
import { layout } from '../../compiler/index.js';
import { Failure, notFound } from '../failure.js';
import { valueInTime } from '../limit/value-in-time.js';
import type { Logger } from '../log.js';
import { readSchema } from '../store/model/model.js';
import type { SchemaChangeAfter } from '../store/policy/policy-state.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { Publications } from '../store/policy/publications.js';
import type { CommittedPart, Store } from '../store/store.js';
import type { Assembler } from './assemble.js';
import { type Head, headAt, policyInForce } from './head.js';

/**
 * Time in milliseconds until a failed compilation is retried, because a problem on the machine may have caused the
 * failure.
 */
const retryAfter = 30_000;
/**
 * Time in milliseconds that a revision waits for its policy, counted from the schema change. Afterwards it is sent with
 * the previous policy. The wait is short, because the waiting facts may include a revocation. Until the policy arrives,
 * losses from the change are suspended, and additions are denied.
 */
const defaultPolicyWait = 2_000;

/**
 * Compiles every schema revision. This process compiles a single environment at a time. On a database server, only one
 * process at a time compiles an environment. If a schema does not compile, the previous policy stays active.
 */
export class Publisher {
	/** `gone` is emitted with the id of an environment that no longer exists. */
	readonly events = new EventEmitter<{ gone: [environmentId: string] }>();
	readonly #running = new Map<string, Promise<void>>();
	/** Environments with a commit that is being handled. `#again` contains the environments with a newer commit. */
	readonly #following = new Map<string, Promise<void>>();
	readonly #again = new Set<string>();
	/**
	 * Lineages keyed by environment. An environment is included once this process has compared its policy with the Rego
	 * and OPA of this process, which may be newer.
	 */
	readonly #compared = new Map<string, string>();
	#queue: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly store: Store,
		private readonly policies: PolicyStore,
		private readonly assembler: Assembler,
		private readonly log: Logger,
		private readonly policyWait = defaultPolicyWait,
	) {}

	/** Number of environments with a running or waiting compilation. */
	get compiling(): number {
		return this.#running.size;
	}

	/** Compiles schemas on commit, without waiting for a request. */
	start(): void {
		this.store.committed.on('environment', this.#follow);
	}

	/** Undoes `start`. Resolves when no compilation is running. */
	async stop(): Promise<void> {
		this.store.committed.off('environment', this.#follow);
		this.#again.clear();
		await Promise.allSettled([...this.#following.values(), ...this.#running.values()]);
	}

	/**
	 * Returns the head after compiling the newest schema. If compiling takes too long and a previous policy exists, the
	 * head contains the previous policy. Throws `not_found`.
	 */
	async head(environmentId: string): Promise<Head> {
		for (;;) {
			const counters = await this.store.counters(environmentId);
			if (counters === null) throw notFound('Environment', environmentId);
			const publications = await this.policies.publications(environmentId);
			const changeAfter = (revision: number) => this.store.schemaChangeAfter(environmentId, revision);
			const head = await headAt(counters, publications, changeAfter, false);
			if (head !== null && this.#compared.get(environmentId) === head.lineage) {
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

	/** Returns the time of the first schema change without a compilation attempt, or `null`. */
	async #waitingSince({ live, failed }: Publications, changeAfter: SchemaChangeAfter): Promise<Date | null> {
		const tried = Math.max(live?.schema_revision ?? 0, failed?.failed_revision ?? 0);
		return (await changeAfter(tried))?.created_at ?? null;
	}

	/** True if a compilation ends before the maximum wait, which is counted from the schema change at `since`. */
	async #isDoneInTime(compiled: Promise<void>, since: Date | null): Promise<boolean> {
		const waited = since === null ? 0 : this.store.clock.now().getTime() - since.getTime();
		const left = Math.min(Math.max(this.policyWait - waited, 0), this.policyWait);
		const done = compiled.then(() => true);
		return valueInTime(done, left, false);
	}

	#isDueAgain({ failed }: Publications): boolean {
		return failed !== null && Math.abs(this.store.clock.now().getTime() - failed.failed_at.getTime()) > retryAfter;
	}

	/**
	 * Handles a commit in an environment. Commits that arrive during the handling are handled together afterwards.
	 * Commits that change only facts need no handling.
	 */
	readonly #follow = (environmentId: string, part: CommittedPart): void => {
		if (part === 'facts' && this.#compared.has(environmentId)) return;
		if (this.#following.has(environmentId)) {
			this.#again.add(environmentId);
			return;
		}
		const looking = this.#look(environmentId).finally(() => {
			this.#following.delete(environmentId);
			if (this.#again.delete(environmentId)) this.#follow(environmentId, 'schema');
		});
		this.#following.set(environmentId, looking);
	};

	async #look(environmentId: string): Promise<void> {
		try {
			await this.head(environmentId);
		} catch (error) {
			if (error instanceof Failure && error.code === 'not_found') {
				this.#compared.delete(environmentId);
				this.events.emit('gone', environmentId);
			} else {
				this.log.error({ environment: environmentId, error }, 'a committed schema could not be published');
			}
		}
	}

	#publish(environmentId: string): Promise<void> {
		const running = this.#running.get(environmentId);
		if (running !== undefined) return running;
		// Compile one schema at a time, because each compilation runs a process on a machine that may also make
		// decisions.
		const next = this.#queue.then(() => this.store.alone(environmentId, () => this.#compile(environmentId)));
		this.#queue = next.catch(() => undefined);
		const publishing = next.finally(() => this.#running.delete(environmentId));
		// Waiting callers get the failure. If there are none, avoid an unhandled rejection.
		publishing.catch(() => undefined);
		this.#running.set(environmentId, publishing);
		return publishing;
	}

	async #compile(environmentId: string): Promise<void> {
		const started = performance.now();
		const { schema, counters } = await this.store.snapshot(environmentId, async (unit, _, read) => ({
			schema: await readSchema(unit),
			counters: read,
		}));
		const { schema_revision, schema_token } = counters;
		const of = { environmentId, revision: schema_revision, token: schema_token };
		const publications = await this.policies.publications(environmentId);
		const assembled = await this.assembler.assemble(schema);
		const now = this.store.clock.now();
		const facts = { environment: environmentId, schema_revision };
		if (assembled.digest === null) {
			const { failure } = assembled;
			if (!(await this.policies.fail(of, { failure, failed_revision: schema_revision, failed_at: now }))) return;
			this.log.error({ ...facts, failure }, 'a schema cannot be compiled: its removed permissions stay suspended');
			this.store.committed.emit('environment', environmentId, 'schema');
		} else {
			const { digest, left_out, built } = assembled;
			const live = policyInForce(publications);
			const unchanged =
				publications.failed === null && live?.schema_revision === schema_revision && live.digest === digest;
			const published = { digest, schema_revision, published_at: now, layout };
			// Also records a policy that is already active, because a version without a history may have published it.
			if (!(await this.policies.record(of, published, assembled.schema))) return;
			if (!unchanged) {
				if (!(await this.policies.publish(of, { ...published, left_out }, assembled.schema))) return;
				// Wakes requests that continued with the previous policy and now wait for this policy.
				this.store.committed.emit('environment', environmentId, 'schema');
			}
			if (left_out.length > 0) this.log.error({ ...facts, left_out }, 'objects were excluded from a policy');
			const milliseconds = Math.round(performance.now() - started);
			this.log.debug({ ...facts, digest, built, milliseconds }, 'published a schema');
		}
		this.#compared.set(environmentId, counters.lineage);
	}
}
