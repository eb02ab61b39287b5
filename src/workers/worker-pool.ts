import cluster, { type Worker } from 'node:cluster';
import { errorMessage } from '../failure.js';
import type { Logger } from '../log.js';
import { EnvironmentGone, type FeedClient, Refusal } from '../pdp/follow/feed-client.js';
import { Listeners } from '../pdp/follow/listeners.js';
import { nothingYet, type ReplicaState } from '../pdp/follow/replica.js';
import { type EventCounts, EventQueue, type EventReceiver } from '../pdp/log/event-queue.js';
import { counter, gauge, type MetricFamilies, sample } from '../telemetry/metric-family.js';
import { renderFamilies } from '../telemetry/render-families.js';
import type { Health } from '../wire/decision/check.js';
import type { Beginning, LeaderMessage, Question, WorkerMessage, WorkerStatus, WorkersProgress } from './messages.js';
import { SharedFeed } from './shared-feed.js';
import { noProgress, SharedProgress } from './shared-progress.js';
import { WorkerMetrics } from './worker-metrics.js';

/** What a pool of workers needs. */
export interface WorkerPoolOptions {
	readonly count: number;
	/** The program that a worker runs, and its arguments. */
	readonly program: { readonly path: string; readonly args: readonly string[] };
	/** What a worker is begun with. */
	readonly beginning: Pick<Beginning, 'controlPlane' | 'apiKey'>;
	/** The feed of the control plane. */
	readonly feed: FeedClient;
	/** Where decisions are logged. */
	readonly receivers: readonly EventReceiver[];
	/** The metrics that this process adds to those of its workers. */
	readonly families?: () => MetricFamilies;
	readonly log: Logger;
}

/** A worker cannot begin because of a setting. */
export class WorkerSettingError extends Error {}

/** What became of decisions so far: as `DecisionCounts`, with those that workers lost. */
interface PoolCounts {
	readonly sampled_out: number;
	readonly receivers: Readonly<Record<string, EventCounts>>;
	readonly lost_by_workers: number;
}

interface Member {
	readonly worker: Worker;
	readonly begun: number;
	/** Questions that are being answered. */
	readonly asked: Map<number, AbortController>;
	url: string | undefined;
	/** Whether the progress of all includes this worker. It does from shortly before the worker listens. */
	counted: boolean;
	status: WorkerStatus | undefined;
}

/** A worker that ends sooner than this, in milliseconds, is replaced only after a pause of this length. */
const soon = 2_000;
/** How long workers may take to stop, in milliseconds, before they are killed. */
const stopTime = 20_000;

const unavailable: Health = {
	status: 'unavailable',
	online: false,
	state: 'starting',
	detail: null,
	lineage: null,
	left_lineage: null,
	update_id: null,
	revision: null,
	policy_revision: null,
	degraded: null,
};

/**
 * The workers of a decision point: processes that answer on the same ports, each with a replica of its own. This process
 * follows the feed and passes decisions on for all of them. A worker that ends is replaced.
 */
export class WorkerPool {
	/** Told whenever the progress or the state of the workers may have changed. */
	readonly changes = new Listeners<number>();
	readonly progress = new SharedProgress();
	readonly #feed: SharedFeed;
	readonly #queues: readonly (readonly [name: string, queue: EventQueue])[];
	readonly #members = new Map<number, Member>();
	#started = false;
	readonly #metrics = new WorkerMetrics();
	#replaced = 0;
	#stopping = false;
	/** The lineages that workers know to have ended. */
	readonly #endedLineages = new Set<string>();
	/** What workers that ended had counted. */
	#decidedBefore = 0;
	#sampledOutBefore = 0;
	#lostBefore = 0;

	constructor(private readonly options: WorkerPoolOptions) {
		this.#feed = new SharedFeed(options.feed);
		this.#queues = options.receivers.map((receiver) => [receiver.name, new EventQueue(receiver, options.log)]);
	}

	/** Starts the workers. Resolves to the address when all listen. Rejects with what is wrong when one cannot. */
	async start(): Promise<string> {
		const { path, args } = this.options.program;
		cluster.setupPrimary({ exec: path, args: [...args], serialization: 'advanced' });
		for (const [, queue] of this.#queues) queue.start();
		const urls = await Promise.all(Array.from({ length: this.options.count }, () => this.#fork()));
		this.#started = true;
		return urls[0] ?? '';
	}

	/** Stops all workers, then passes on what is left of the decisions. */
	async stop(): Promise<void> {
		this.#stopping = true;
		await Promise.all([...this.#members.values()].map((member) => stopMember(member)));
		await Promise.all(this.#queues.map(([, queue]) => queue.stop()));
	}

	/** The health of the worker that is worst off. */
	get health(): Health {
		const healths = this.#serving.map(({ health }) => health);
		return healths.toSorted((a, b) => rank(a) - rank(b))[0] ?? unavailable;
	}

	/** The state of the worker that is worst off. */
	get state(): ReplicaState {
		const states = this.#serving.map(({ state }) => state);
		return states.find(({ kind }) => kind !== 'ready') ?? states[0] ?? { kind: 'starting', detail: nothingYet };
	}

	/** Whether some worker knows that a lineage has ended. */
	hasEnded(lineage: string): boolean {
		return this.#endedLineages.has(lineage);
	}

	/** Whether there is a worker, and all of them answer checks. */
	get answers(): boolean {
		return this.health.status !== 'unavailable';
	}

	/** How many decisions all workers have made so far, as far as they told. */
	get decided(): number {
		return this.#decidedBefore + sum(this.#statuses.map(({ decided }) => decided));
	}

	/** What became of decisions so far. */
	get counts(): PoolCounts {
		const statuses = this.#statuses;
		return {
			sampled_out: this.#sampledOutBefore + sum(statuses.map(({ sampledOut }) => sampledOut)),
			receivers: Object.fromEntries(this.#queues.map(([name, queue]) => [name, queue.counts])),
			lost_by_workers: this.#lostBefore + sum(statuses.map(({ lost }) => lost)),
		};
	}

	/** The metrics of all workers, as text. */
	async #measure(): Promise<string> {
		const { families } = this.options;
		const workers = [...this.#members].filter(([, { status }]) => status !== undefined).map(([id]) => id);
		const told = await this.#metrics.collect(workers, (id) => {
			const worker = this.#members.get(id)?.worker;
			if (worker !== undefined) send(worker, { type: 'measure' });
		});
		const own = [
			gauge('regolith_pdp_workers', 'Processes that answer', [sample(this.#serving.length)]),
			counter('regolith_pdp_workers_replaced_total', 'Workers that ended and were replaced', [sample(this.#replaced)]),
		];
		return renderFamilies([[...own, ...(families?.() ?? [])], ...told]);
	}

	/** What workers told last, also those that do not answer yet. */
	get #statuses(): readonly WorkerStatus[] {
		return [...this.#members.values()].flatMap(({ status }) => (status === undefined ? [] : [status]));
	}

	/** The workers that answer requests. */
	get #serving(): readonly WorkerStatus[] {
		return [...this.#members.values()].flatMap(({ url, status }) =>
			url === undefined || status === undefined ? [] : [status],
		);
	}

	/** Starts a worker. Resolves to its address when it listens. */
	#fork(): Promise<string> {
		const worker = cluster.fork();
		const member: Member = {
			worker,
			begun: performance.now(),
			asked: new Map(),
			url: undefined,
			counted: false,
			status: undefined,
		};
		this.#members.set(worker.id, member);
		return new Promise((resolve, reject) => {
			worker.on('message', (message: WorkerMessage) => {
				if (message.type === 'hears' && this.#stopping) send(worker, { type: 'stop' });
				else if (message.type === 'hears') {
					const { lineage, revision } = this.progress;
					const beginning = { ...this.options.beginning, lineage, revision, ended: [...this.#endedLineages] };
					send(worker, { type: 'begin', beginning });
					this.#tellProgress(worker);
				} else if (message.type === 'listening') {
					member.url = message.url;
					this.#noteProgress();
					resolve(message.url);
				} else if (message.type === 'failed') {
					reject(message.setting ? new WorkerSettingError(message.message) : new Error(message.message));
					if (this.#started) this.options.log.error({ reason: message.message }, 'a worker cannot begin');
				} else this.#hear(member, message);
			});
			worker.on('exit', (code, signal) => {
				reject(new Error(`a worker ended at its start: ${signal ?? `exit code ${code}`}`));
				this.#ended(member, code, signal);
			});
			// A message to a worker that is ending may fail: its exit says the same.
			worker.on('error', () => {});
		});
	}

	#hear(member: Member, message: Exclude<WorkerMessage, { readonly type: 'hears' | 'listening' | 'failed' }>): void {
		if (message.type === 'ask') void this.#answer(member, message.id, message.question);
		else if (message.type === 'cancel') member.asked.get(message.id)?.abort();
		else if (message.type === 'status') {
			member.status = message.status;
			for (const lineage of message.status.ended) this.#endedLineages.add(lineage);
			this.#noteProgress();
		} else if (message.type === 'metrics') this.#metrics.take(member.worker.id, message.families);
		else for (const { worker } of this.#members.values()) send(worker, { type: 'refetch' });
	}

	async #answer(member: Member, id: number, question: Question): Promise<void> {
		const { worker, asked } = member;
		const abort = new AbortController();
		asked.set(id, abort);
		try {
			send(worker, { type: 'answer', id, value: await this.#value(member, question, abort.signal) });
		} catch (error) {
			const [refused, gone] = [error instanceof Refusal, error instanceof EnvironmentGone];
			if (!abort.signal.aborted) send(worker, { type: 'failure', id, message: errorMessage(error), refused, gone });
		} finally {
			asked.delete(id);
		}
	}

	async #value(member: Member, question: Question, signal: AbortSignal): Promise<unknown> {
		if (question.kind === 'count') return this.#count(member, question.status);
		if (question.kind === 'environment') return this.#feed.environment(signal);
		if (question.kind === 'poll') return this.#feed.poll(question.request, signal);
		if (question.kind === 'metrics') return this.#measure();
		for (const [, queue] of this.#queues) for (const line of question.lines) queue.push(line);
		return null;
	}

	/**
	 * Counts a worker in. Returns the progress that it must have made before it listens: what was told of the others
	 * until now. INVARIANT: a client that was told that a revision is reached gets it from every worker that listens.
	 */
	#count(member: Member, status: WorkerStatus): WorkersProgress {
		const told = this.progress.current;
		member.status = status;
		member.counted = true;
		this.#noteProgress();
		return told;
	}

	/** Tells all workers how far the last of them is. */
	#noteProgress(): void {
		const before = this.progress.current;
		const progress = this.#sharedProgress(before);
		if (!isEqual(progress, before)) {
			this.progress.update(progress);
			for (const { worker } of this.#members.values()) this.#tellProgress(worker);
		}
		this.changes.tell(progress.revision);
	}

	/**
	 * The progress of the slowest worker, but never less than was told of a lineage: a worker that is behind that does not
	 * listen yet. None while workers are in different lineages.
	 */
	#sharedProgress(before: WorkersProgress): WorkersProgress {
		const counted = [...this.#members.values()].flatMap(({ counted, status }) =>
			counted && status !== undefined ? [status] : [],
		);
		const [first] = counted;
		if (first === undefined) return noProgress;
		const { lineage } = first;
		const deleted = counted.every(({ state }) => state.kind === 'deleted');
		if (counted.some((status) => status.lineage !== lineage)) return { ...noProgress, deleted };
		const told = before.lineage === lineage ? before : noProgress;
		return {
			lineage,
			revision: Math.max(told.revision, Math.min(...counted.map(({ revision }) => revision))),
			policyRevision: Math.max(told.policyRevision, Math.min(...counted.map(({ policyRevision }) => policyRevision))),
			deleted,
		};
	}

	#tellProgress(worker: Worker): void {
		send(worker, { type: 'progress', progress: this.progress.current });
	}

	#ended(member: Member, code: number | null, signal: string | null): void {
		const { worker, asked, status, begun } = member;
		for (const abort of asked.values()) abort.abort();
		this.#members.delete(worker.id);
		this.#metrics.end(worker.id);
		this.#decidedBefore += status?.decided ?? 0;
		this.#sampledOutBefore += status?.sampledOut ?? 0;
		this.#lostBefore += status?.lost ?? 0;
		this.#noteProgress();
		// One that never listened at the first start has failed the start.
		if (this.#stopping || !this.#started) return;
		this.#replaced += 1;
		const pause = performance.now() - begun < soon ? soon : 0;
		this.options.log.error({ pid: worker.process.pid, code, signal }, 'a worker ended and is replaced');
		setTimeout(() => {
			if (!this.#stopping) this.#fork().catch(() => {});
		}, pause);
	}
}

function sum(values: readonly number[]): number {
	return values.reduce((total, value) => total + value, 0);
}

function isEqual(one: WorkersProgress, other: WorkersProgress): boolean {
	return (
		one.lineage === other.lineage &&
		one.revision === other.revision &&
		one.policyRevision === other.policyRevision &&
		one.deleted === other.deleted
	);
}

function send(worker: Worker, message: LeaderMessage): void {
	if (worker.isConnected()) worker.send(message, () => {});
}

async function stopMember({ worker }: Member): Promise<void> {
	await new Promise<void>((resolve) => {
		if (worker.isDead()) return resolve();
		const cut = setTimeout(() => worker.process.kill('SIGKILL'), stopTime);
		worker.once('exit', () => {
			clearTimeout(cut);
			resolve();
		});
		send(worker, { type: 'stop' });
	});
}

const order: readonly Health['status'][] = ['unavailable', 'degraded', 'ok'];

/** The lower, the worse. */
function rank({ status, revision }: Health): number {
	return order.indexOf(status) + (revision ?? 0) / Number.MAX_SAFE_INTEGER;
}
