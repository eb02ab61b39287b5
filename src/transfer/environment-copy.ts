import { createEnvironment } from '../domain/environment.js';
import { definedFields } from '../domain/schema/defined-fields.js';
import { Failure, notFound, unprocessable } from '../failure.js';
import type { Logger } from '../log.js';
import type { Caller } from '../store/account/caller.js';
import type { CopyTask } from '../store/account/copy-task.js';
import type { WritingAccountUnit } from '../store/account/writing-account.js';
import type { Store } from '../store/store.js';
import type { Environment } from '../store/table/account.js';
import type { EnvironmentCopy } from '../wire/general/environment-copy.js';
import { applySchema, extractSchema } from './transfer.js';

/** Time in milliseconds between lease renewals. A lease is renewed several times before it expires. */
const renewalMilliseconds = 15_000;
/** Time in milliseconds between polls while a request waits for its task. */
const lookMilliseconds = 200;

/** A finished copy. */
export interface CopiedEnvironment {
	/** Target environment. */
	readonly environment: Environment;
	readonly revision: number;
	/** Lineage of the target revision. */
	readonly lineage: string;
}

/**
 * Copies the schema between environments in a project. A copy reads the complete source at a single revision before it
 * writes the target, so it never locks both environments at the same time.
 */
export class EnvironmentCopier {
	/** Background copies, keyed by task id, each with its source environment. */
	readonly #running = new Map<string, { readonly source: string; readonly ended: Promise<void> }>();
	/** Resolves when the newest copy has ended. Copies run in sequence, because each occupies a database connection. */
	#last: Promise<void> = Promise.resolve();
	#renewal: NodeJS.Timeout | null = null;
	#stopped = false;

	constructor(
		private readonly store: Store,
		private readonly log: Logger,
	) {}

	/**
	 * Copies the objects in the body's scope. Throws `duplicate` if the target has an object with different content, or
	 * if the key for a new target is taken. Throws `not_found` for a target outside the project, and for a reference to
	 * an object that is neither copied nor in the target.
	 */
	async copy(caller: Caller, source: Environment, body: EnvironmentCopy): Promise<CopiedEnvironment> {
		return this.#copy(caller, source, body, async () => {});
	}

	/**
	 * Starts a copy and returns its task immediately. Throws like `copy` for a missing target. The task records later
	 * failures.
	 */
	async begin(caller: Caller, source: Environment, body: EnvironmentCopy): Promise<CopyTask> {
		await this.#existingTarget(caller, source, body);
		const task = await this.store.copyTasks(source.id).add(this.store.clock.newId());
		const run = this.#last.then(() => this.#run(task.id, caller, source, body));
		const ended = run.catch((error: unknown) => this.#fail(task.id, source.id, error));
		this.#last = ended;
		this.#running.set(task.id, { source: source.id, ended: ended.finally(() => this.#running.delete(task.id)) });
		this.#renewal ??= setInterval(() => this.#renew(), renewalMilliseconds).unref();
		return task;
	}

	/**
	 * Returns the state of a copy. Waits until the copy has ended or `closed` returns true, for at most `seconds`. A
	 * copy whose process has ended has failed. Throws `not_found`.
	 */
	async result(source: Environment, id: string, seconds: number, closed: () => boolean): Promise<CopyTask> {
		const tasks = this.store.copyTasks(source.id);
		const deadline = performance.now() + seconds * 1000;
		for (;;) {
			const task = await tasks.find(id);
			if (task === null) throw notFound('Task', id);
			if (task.status !== 'processing') return task;
			const lost = task.expired && !this.#running.has(task.id);
			if (lost) await tasks.end(task.id, { error: 'the server stopped during the copy; nothing was copied' });
			else if (this.#stopped || closed() || performance.now() >= deadline) return task;
			else await new Promise((next) => setTimeout(next, lookMilliseconds));
		}
	}

	/** Starts no further copies, and waits for running copies. */
	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#renewal !== null) clearInterval(this.#renewal);
		await Promise.all([...this.#running.values()].map(({ ended }) => ended));
	}

	async #run(id: string, caller: Caller, source: Environment, body: EnvironmentCopy): Promise<void> {
		if (this.#stopped) throw new Failure('unavailable', 'the server stopped before the copy');
		await this.#copy(caller, source, body, async (account, { revision: _, schema_revision: __, ...environment }) => {
			const ended = await account.copyTasks(source.id).end(id, { result: environment });
			if (!ended) throw new Failure('unavailable', 'the copy took too long and was canceled');
		});
	}

	async #fail(id: string, sourceId: string, error: unknown): Promise<void> {
		if (!(error instanceof Failure)) this.log.error({ error, task: id }, 'an environment could not be copied');
		const reason =
			error instanceof Failure ? error.message : `an unexpected error; the server log has the details under ${id}`;
		try {
			await this.store.copyTasks(sourceId).end(id, { error: reason });
		} catch (failure) {
			// The task will fail when its lease expires.
			this.log.error({ error: failure, task: id }, 'the failure of a copy could not be recorded');
		}
	}

	#renew(): void {
		for (const [id, { source }] of this.#running) {
			this.store
				.copyTasks(source)
				.renew(id)
				.catch((error: unknown) => this.log.warn({ error, task: id }, 'a copy could not renew its lease'));
		}
	}

	async #existingTarget(caller: Caller, source: Environment, body: EnvironmentCopy): Promise<Environment | null> {
		const { existing } = body.target_env;
		if (existing === undefined) return null;
		const account = this.store.account(source.organization_id);
		const target = await account.environment(caller, source.project_id, existing);
		if (target.id !== source.id) return target;
		const msg = `must not be the source environment, got \`${existing}\``;
		throw unprocessable([{ loc: ['body', 'target_env', 'existing'], msg, type: 'value_error' }]);
	}

	async #copy(
		caller: Caller,
		source: Environment,
		body: EnvironmentCopy,
		ending: (account: WritingAccountUnit, environment: Environment) => Promise<void>,
	): Promise<CopiedEnvironment> {
		const existing = await this.#existingTarget(caller, source, body);
		const schema = await this.store.readAtRevision(source.id, (unit) => extractSchema(unit, body.scope));
		const work = async (account: WritingAccountUnit) => {
			const environment = existing ?? (await newTarget(account, source, body));
			// A new environment contains only the built-in objects, so nothing else is overwritten.
			const strategy = existing === null ? 'overwrite' : body.conflict_strategy;
			const revision = await account.within(environment, (unit) => applySchema(unit, schema, strategy));
			await ending(account, environment);
			return { environment, revision, lineage: account.lineage };
		};
		const options = { environmentId: existing?.id ?? null, long: true };
		return this.store.writeAccount(source.organization_id, caller, work, options);
	}
}

async function newTarget(
	account: WritingAccountUnit,
	source: Environment,
	body: EnvironmentCopy,
): Promise<Environment> {
	const { key = '', ...fields } = body.target_env.new ?? {};
	return (await createEnvironment(account, source.project_id, key, definedFields(fields))).environment;
}
