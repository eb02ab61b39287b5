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

export interface WorkerPoolOptions {
	readonly count: number;
	/** Worker program and arguments. */
	readonly program: { readonly path: string; readonly args: readonly string[] };
	/** Initial data for workers. */
	readonly beginning: Pick<Beginning, 'controlPlane' | 'apiKey'>;
	/** Control plane feed. */
	readonly feed: FeedClient;
	/** Decision log receivers. */
	readonly receivers: readonly EventReceiver[];
	/** Metrics from this process, added to its workers' metrics. */
	readonly families?: () => MetricFamilies;
	readonly log: Logger;
}

/** Thrown if a worker cannot start because of a setting. */
export class WorkerSettingError extends Error {}

/** Decision log results so far: like `DecisionCounts`, with decisions lost by workers. */
interface PoolCounts {
	readonly sampled_out: number;
	readonly receivers: Readonly<Record<string, EventCounts>>;
	readonly lost_by_workers: number;
}

interface Member {
	readonly worker: Worker;
	readonly begun: number;
	/** Pending requests, by id. */
	readonly asked: Map<number, AbortController>;
	url: string | undefined;
	/** True if the shared progress includes this worker. It is included shortly before it listens. */
	counted: boolean;
	status: WorkerStatus | undefined;
}

/**
 * Minimum worker lifetime in milliseconds for an immediate replacement. A worker that ends sooner is replaced after a
 * pause of this length.
 */
const soon = 2_000;
/** Time in milliseconds until stopping workers are killed. */
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
 * Decision point workers: processes that serve the same ports, each with its own replica. This process follows the feed
 * and forwards decisions for all workers. Ended workers are replaced.
 */
export class WorkerPool {
	/** Notified when the workers' progress or state may have changed. */
	readonly changes = new Listeners<number>();
	readonly progress = new SharedProgress();
	readonly #feed: SharedFeed;
	readonly #queues: readonly (readonly [name: string, queue: EventQueue])[];
	readonly #members = new Map<number, Member>();
	#started = false;
	readonly #metrics = new WorkerMetrics();
	#replaced = 0;
	#stopping = false;
	/** Lineages known to have ended. */
	readonly #endedLineages = new Set<string>();
	/** Counts from ended workers. */
	#decidedBefore = 0;
	#sampledOutBefore = 0;
	#lostBefore = 0;

	constructor(private readonly options: WorkerPoolOptions) {
		this.#feed = new SharedFeed(options.feed);
		this.#queues = options.receivers.map((receiver) => [receiver.name, new EventQueue(receiver, options.log)]);
	}

	/**
	 * Starts the workers. Resolves to their address when all workers are listening. Rejects with the reason if a worker
	 * cannot start.
	 */
	async start(): Promise<string> {
		const { path, args } = this.options.program;
		cluster.setupPrimary({ exec: path, args: [...args], serialization: 'advanced' });
		for (const [, queue] of this.#queues) queue.start();
		const urls = await Promise.all(Array.from({ length: this.options.count }, () => this.#fork()));
		this.#started = true;
		return urls[0] ?? '';
	}

	/** Stops all workers, then forwards the remaining decisions. */
	async stop(): Promise<void> {
		this.#stopping = true;
		await Promise.all([...this.#members.values()].map((member) => stopMember(member)));
		await Promise.all(this.#queues.map(([, queue]) => queue.stop()));
	}

	/**
	 * Health of the worst worker. A worker in an ended lineage is worse than a worker with the same status in the current
	 * lineage.
	 */
	get health(): Health {
		const rank = ({ status, lineage, revision }: Health) =>
			2 * order.indexOf(status) + (this.hasEnded(lineage ?? '') ? 0 : 1) + (revision ?? 0) / Number.MAX_SAFE_INTEGER;
		const healths = this.#serving.map(({ health }) => health);
		return healths.toSorted((a, b) => rank(a) - rank(b))[0] ?? unavailable;
	}

	/** State of the worst worker. */
	get state(): ReplicaState {
		const states = this.#serving.map(({ state }) => state);
		return states.find(({ kind }) => kind !== 'ready') ?? states[0] ?? { kind: 'starting', detail: nothingYet };
	}

	/** True if a lineage is known to have ended. */
	hasEnded(lineage: string): boolean {
		return this.#endedLineages.has(lineage);
	}

	/** True if there is at least one worker, and all workers serve checks. */
	get answers(): boolean {
		return this.health.status !== 'unavailable';
	}

	/** Decisions by all workers so far, as reported. */
	get decided(): number {
		return this.#decidedBefore + sum(this.#statuses.map(({ decided }) => decided));
	}

	/** Decision log results so far. */
	get counts(): PoolCounts {
		const statuses = this.#statuses;
		return {
			sampled_out: this.#sampledOutBefore + sum(statuses.map(({ sampledOut }) => sampledOut)),
			receivers: Object.fromEntries(this.#queues.map(([name, queue]) => [name, queue.counts])),
			lost_by_workers: this.#lostBefore + sum(statuses.map(({ lost }) => lost)),
		};
	}

	/** Returns all workers' metrics as text. */
	async #measure(): Promise<string> {
		const { families } = this.options;
		const workers = [...this.#members].filter(([, { status }]) => status !== undefined).map(([id]) => id);
		const told = await this.#metrics.collect(workers, (id) => {
			const worker = this.#members.get(id)?.worker;
			if (worker !== undefined) send(worker, { type: 'measure' });
		});
		const own = [
			gauge('regolith_pdp_workers', 'Worker processes in service', [sample(this.#serving.length)]),
			counter('regolith_pdp_workers_replaced_total', 'Worker processes that ended and were replaced', [
				sample(this.#replaced),
			]),
		];
		return renderFamilies([[...own, ...(families?.() ?? [])], ...told]);
	}

	/** Last status from all workers, including workers that do not listen yet. */
	get #statuses(): readonly WorkerStatus[] {
		return [...this.#members.values()].flatMap(({ status }) => (status === undefined ? [] : [status]));
	}

	/** Last status from the workers that listen. */
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
					if (this.#started) this.options.log.error({ reason: message.message }, 'a worker cannot start');
				} else this.#hear(member, message);
			});
			worker.on('exit', (code, signal) => {
				reject(new Error(`a worker ended during its start: ${signal ?? `exit code ${code}`}`));
				this.#ended(member, code, signal);
			});
			// Ignore failed messages to a worker that is ending. The exit handler does the necessary work.
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
		for (const [, queue] of this.#queues) queue.pushChunk(question.chunk);
		return null;
	}

	/**
	 * Includes a worker in the shared progress. Returns the progress that the worker must reach before it listens: the
	 * shared progress so far. INVARIANT: after a client learns that a revision is reached, every listening worker serves
	 * that revision.
	 */
	#count(member: Member, status: WorkerStatus): WorkersProgress {
		const told = this.progress.current;
		member.status = status;
		member.counted = true;
		this.#noteProgress();
		return told;
	}

	/** Sends the slowest worker's progress to all workers. */
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
	 * Returns the slowest worker's progress, but never less than the progress already reported in the same lineage. A
	 * worker behind this progress does not listen yet. Returns no progress while workers are in different lineages.
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
		// Workers that end during the first start are not replaced: the start fails instead.
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
