import { Failure, notFound, unprocessable } from '../failure.js';
import type { Logger } from '../log.js';
import type { Caller } from '../store/caller.js';
import type { CopyTask } from '../store/copy-task.js';
import type { Store } from '../store/store.js';
import type { Environment } from '../store/table/account.js';
import type { WritingAccountUnit } from '../store/writing-account.js';
import type { EnvironmentCopy } from '../wire/environment-copy.js';
import { defined } from './defined.js';
import { createEnvironment } from './environment.js';
import { bringSchema, takeSchema } from './transfer.js';

/** How often a process says that it is there, in milliseconds: several times within a lease. */
const renewalMilliseconds = 15_000;
/** How often a waiting answer looks again, in milliseconds. */
const lookMilliseconds = 200;

/** A copy that was made. */
export interface Copied {
	/** The target. */
	readonly environment: Environment;
	/** Its revision. */
	readonly revision: number;
}

/**
 * Copies schemas from environment to environment of a project (contract: Environments). The source is read whole at
 * one revision before the target is written, so that no copy ever holds two environments at once.
 */
export class EnvironmentCopier {
	/** The copies that go on after they were answered, by id, with the environment they are out of. */
	readonly #running = new Map<string, { readonly source: string; readonly ended: Promise<void> }>();
	/** The end of the last that began. One at a time: each needs a database connection, and others need the rest. */
	#last: Promise<void> = Promise.resolve();
	#renewal: NodeJS.Timeout | null = null;
	#stopped = false;

	constructor(
		private readonly store: Store,
		private readonly log: Logger,
	) {}

	/**
	 * Copies what is in the body's scope. Throws `duplicate` for what the target has with other content, or for its key;
	 * `not_found` for an existing target that is none of the project, and for what a copied object refers to and is
	 * neither copied nor there.
	 */
	async copy(caller: Caller, source: Environment, body: EnvironmentCopy): Promise<Copied> {
		return this.#copy(caller, source, body, async () => {});
	}

	/** Begins to copy and answers at once. Throws as `copy` for a target that does not exist; the rest is the task's. */
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
	 * How far a copy is; waits for its end for so many seconds, or until `closed`. One whose process is gone has failed.
	 * Throws `not_found`.
	 */
	async result(source: Environment, id: string, seconds: number, closed: () => boolean): Promise<CopyTask> {
		const tasks = this.store.copyTasks(source.id);
		const deadline = this.store.clock.now().getTime() + seconds * 1000;
		for (;;) {
			const task = await tasks.find(id);
			if (task === null) throw notFound('Task', id);
			if (task.status !== 'processing') return task;
			const lost = task.expired && !this.#running.has(task.id);
			if (lost) await tasks.end(task.id, { error: 'the server that copied has ended; nothing was copied' });
			else if (this.#stopped || closed() || this.store.clock.now().getTime() >= deadline) return task;
			else await new Promise((next) => setTimeout(next, lookMilliseconds));
		}
	}

	/** Begins no copy any more, and waits for the one that is being made. */
	async stop(): Promise<void> {
		this.#stopped = true;
		if (this.#renewal !== null) clearInterval(this.#renewal);
		await Promise.all([...this.#running.values()].map(({ ended }) => ended));
	}

	async #run(id: string, caller: Caller, source: Environment, body: EnvironmentCopy): Promise<void> {
		if (this.#stopped) throw new Failure('unavailable', 'the server stopped before it copied');
		await this.#copy(caller, source, body, async (account, { revision: _, schema_revision: __, ...environment }) => {
			const ended = await account.copyTasks(source.id).end(id, { result: environment });
			if (!ended) throw new Failure('unavailable', 'the copy took so long that it was given up');
		});
	}

	async #fail(id: string, sourceId: string, error: unknown): Promise<void> {
		if (!(error instanceof Failure)) this.log.error({ error, task: id }, 'an environment could not be copied');
		const reason = error instanceof Failure ? error.message : `an unexpected error; the server log has it under ${id}`;
		try {
			await this.store.copyTasks(sourceId).end(id, { error: reason });
		} catch (failure) {
			// Then its lease runs out.
			this.log.error({ error: failure, task: id }, 'the failure of a copy could not be noted');
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
		const msg = `is the environment that is copied, got \`${existing}\``;
		throw unprocessable([{ loc: ['body', 'target_env', 'existing'], msg, type: 'value_error' }]);
	}

	async #copy(
		caller: Caller,
		source: Environment,
		body: EnvironmentCopy,
		ending: (account: WritingAccountUnit, environment: Environment) => Promise<void>,
	): Promise<Copied> {
		const existing = await this.#existingTarget(caller, source, body);
		const schema = await this.store.snapshot(source.id, (unit) => takeSchema(unit, body.scope));
		const work = async (account: WritingAccountUnit) => {
			const environment = existing ?? (await newTarget(account, source, body));
			// Of a new environment nothing can conflict but what every environment begins with.
			const strategy = existing === null ? 'overwrite' : body.conflict_strategy;
			const revision = await account.within(environment, (unit) => bringSchema(unit, schema, strategy));
			await ending(account, environment);
			return { environment, revision };
		};
		return this.store.writeAccount(source.organization_id, caller.key_id, work, existing?.id ?? null);
	}
}

async function newTarget(
	account: WritingAccountUnit,
	source: Environment,
	body: EnvironmentCopy,
): Promise<Environment> {
	const { key = '', ...fields } = body.target_env.new ?? {};
	return (await createEnvironment(account, source.project_id, key, defined(fields))).environment;
}
