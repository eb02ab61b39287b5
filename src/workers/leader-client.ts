import { EnvironmentGone, type FeedClient, type FeedResponse, Refusal } from '../pdp/follow/feed-client.js';
import { Listeners } from '../pdp/follow/listeners.js';
import type { EventReceiver } from '../pdp/log/event-queue.js';
import type { Beginning, LeaderMessage, Question, WorkerMessage, WorkerStatus, WorkersProgress } from './messages.js';
import { SharedProgress } from './shared-progress.js';

/** The part of a process that a worker needs to speak to the one that leads it. */
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

/** A worker's side of the connection to the leading process. */
export class LeaderClient {
	/** How far all workers are. */
	readonly progress = new SharedProgress();
	/** Resolves with what the worker needs to begin. */
	readonly beginning: Promise<Beginning>;
	/** Resolves when the worker is to stop, or the leading process is gone. */
	readonly stopped: Promise<void>;
	/** Told when everything is to be fetched anew. */
	readonly refetches = new Listeners<void>();
	/** Told when the leading process asks for the metrics of this worker. */
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
			for (const { reject } of this.#pending.values()) reject(new Error('the leading process is gone'));
			this.#pending.clear();
		});
		this.tell({ type: 'hears' });
	}

	/** Sends a message that has no answer. */
	tell(message: WorkerMessage): void {
		if (this.channel.connected) this.channel.send?.(message);
	}

	/** The control plane's feed, which the leading process follows for all workers. */
	readonly feed: FeedClient = {
		environment: (signal) => this.#ask({ kind: 'environment' }, signal) as Promise<string>,
		poll: (request, signal) => this.#ask({ kind: 'poll', request }, signal) as Promise<FeedResponse>,
	};

	/** Asks to be counted. Resolves to the progress that this worker must have made before it listens. */
	count(status: WorkerStatus): Promise<WorkersProgress> {
		return this.#ask({ kind: 'count', status }, new AbortController().signal) as Promise<WorkersProgress>;
	}

	/** Takes the events of decisions, which the leading process passes on. */
	readonly receiver: EventReceiver = {
		name: 'leader',
		maxEvents: 10_000,
		maxLength: 4 * 1024 * 1024,
		send: async (lines, signal) => {
			await this.#ask({ kind: 'events', lines }, signal);
		},
	};

	/** The metrics of all workers, as text. */
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
				reject(new Error('nobody waits any more', { cause: signal.reason }));
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
