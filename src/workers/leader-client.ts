import { EnvironmentGone, type FeedClient, type FeedResponse, Refusal } from '../pdp/follow/feed-client.js';
import { Listeners } from '../pdp/follow/listeners.js';
import type { EventReceiver } from '../pdp/log/event-queue.js';
import type { Beginning, LeaderMessage, Question, WorkerMessage, WorkerStatus, WorkersProgress } from './messages.js';
import { SharedProgress } from './shared-progress.js';

/** Subset of `process` that a worker needs to talk to its leader. */
export interface Channel {
	readonly connected: boolean;
	send?(message: WorkerMessage): unknown;
	on(event: 'message', listener: (message: LeaderMessage) => void): unknown;
	on(event: 'disconnect', listener: () => void): unknown;
}

interface Pending {
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: Error) => void;
}

/** Worker side of the leader connection. */
export class LeaderClient {
	readonly progress = new SharedProgress();
	/** Resolves to the worker's initial data. */
	readonly beginning: Promise<Beginning>;
	/** Resolves when the worker must stop, or when the leader process has ended. */
	readonly stopped: Promise<void>;
	/** Notified when all data must be fetched again. */
	readonly refetches = new Listeners<void>();
	/** Notified when the leader requests this worker's metrics. */
	readonly measures = new Listeners<void>();
	readonly #pending = new Map<number, Pending>();
	#asked = 0;

	constructor(private readonly channel: Channel) {
		let begin: (beginning: Beginning) => void = () => {};
		let stop: () => void = () => {};
		this.beginning = new Promise((resolve) => {
			begin = resolve;
		});
		this.stopped = new Promise((resolve) => {
			stop = resolve;
		});
		channel.on('message', (message) => {
			if (message.type === 'begin') begin(message.beginning);
			else if (message.type === 'stop') stop();
			else if (message.type === 'refetch') this.refetches.tell();
			else if (message.type === 'measure') this.measures.tell();
			else if (message.type === 'progress') this.progress.update(message.progress);
			else this.#settle(message);
		});
		channel.on('disconnect', () => {
			stop();
			for (const { reject } of this.#pending.values()) reject(new Error('the leader process has ended'));
			this.#pending.clear();
		});
		this.tell({ type: 'hears' });
	}

	/** Sends a message and expects no reply. */
	tell(message: WorkerMessage): void {
		if (this.channel.connected) this.channel.send?.(message);
	}

	/** Control plane feed, which the leader follows for all workers. */
	readonly feed: FeedClient = {
		environment: (signal) => this.#ask({ kind: 'environment' }, signal) as Promise<string>,
		poll: (request, signal) => this.#ask({ kind: 'poll', request }, signal) as Promise<FeedResponse>,
	};

	/**
	 * Asks the leader to include this worker in the shared progress. Resolves to the progress that this worker must
	 * reach before it listens.
	 */
	count(status: WorkerStatus): Promise<WorkersProgress> {
		return this.#ask({ kind: 'count', status }, new AbortController().signal) as Promise<WorkersProgress>;
	}

	/** Decision log receiver. Sends events to the leader, which forwards them. */
	readonly receiver: EventReceiver = {
		name: 'leader',
		// The leader forwards whole chunks, so a chunk must not exceed the limits of any receiver.
		maxEvents: 1_000,
		maxLength: 256 * 1024,
		send: async (chunk, signal) => {
			await this.#ask({ kind: 'events', chunk }, signal);
		},
	};

	metrics(signal: AbortSignal): Promise<string> {
		return this.#ask({ kind: 'metrics' }, signal) as Promise<string>;
	}

	#ask(question: Question, signal: AbortSignal): Promise<unknown> {
		this.#asked += 1;
		const id = this.#asked;
		return new Promise((resolve, reject) => {
			const abandon = () => {
				this.#pending.delete(id);
				this.tell({ type: 'cancel', id });
				reject(new Error('no caller is waiting', { cause: signal.reason }));
			};
			if (signal.aborted || !this.channel.connected) return abandon();
			signal.addEventListener('abort', abandon);
			const leave = () => signal.removeEventListener('abort', abandon);
			this.#pending.set(id, {
				resolve: (value) => {
					leave();
					resolve(value);
				},
				reject: (error) => {
					leave();
					reject(error);
				},
			});
			this.tell({ type: 'ask', id, question });
		});
	}

	#settle(answer: Extract<LeaderMessage, { readonly id: number }>): void {
		const pending = this.#pending.get(answer.id);
		this.#pending.delete(answer.id);
		if (answer.type === 'answer') pending?.resolve(answer.value);
		else pending?.reject(asError(answer));
	}
}

function asError({ message, refused, gone }: Extract<LeaderMessage, { readonly type: 'failure' }>): Error {
	if (gone) return new EnvironmentGone(message);
	return refused ? new Refusal(message) : new Error(message);
}
