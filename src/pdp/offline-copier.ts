/** Keeps the offline copy up to date, beside the replica and never in its way. */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseManifest, unpack } from '../bundle.js';
import type { Logger } from '../log.js';
import type { VerifyBundle } from './bundle-verifier.js';
import type { FeedClient } from './feed-client.js';
import type { OfflineCopy } from './offline-copy.js';
import type { Replica } from './replica.js';

/** How often the copy is brought up to date, in milliseconds. */
const defaultInterval = 60_000;

/** How long until a replica is looked at again that was not ready, in milliseconds. */
const unreadyPause = 1_000;

/** How many bytes of steps the copy takes beyond the size of its snapshot before it begins anew. */
const spareBytes = 1024 * 1024;

/** What an offline copier needs. */
export interface OfflineCopierOptions {
	readonly copy: OfflineCopy;
	/** The feed of the control plane. */
	readonly feed: FeedClient;
	readonly replica: Pick<Replica, 'reached' | 'revisions' | 'state' | 'scheduler'>;
	/** As in `ReplicaOptions`. */
	readonly verify?: VerifyBundle | undefined;
	readonly log: Logger;
	/** How often to bring the copy up to date, in milliseconds. */
	readonly interval?: number;
}

/** Follows the feed as a decision point does, and writes what comes to disk. */
export class OfflineCopier {
	readonly #stopping = new AbortController();
	#running: Promise<void> | undefined;
	#environment: string | undefined;
	/** What the copy leads to; `undefined` asks for a snapshot. */
	#etag: string | undefined;
	#snapshotBytes = 0;
	#stepBytes = 0;
	#failing = false;

	constructor(private readonly options: OfflineCopierOptions) {}

	/** Copies from now on, first when the replica has its first revision. */
	start(): void {
		this.#running ??= this.#run();
	}

	/** Ends that; resolves when nothing is being written any more. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		await this.#running;
	}

	async #run(): Promise<void> {
		const { replica, interval = defaultInterval } = this.options;
		const { signal } = this.#stopping;
		try {
			await replica.reached(0, signal);
			while (!signal.aborted) {
				// A replica that is stale has begun from the copy, or lost its control plane: there is nothing to copy.
				const isReady = replica.state.kind === 'ready';
				if (isReady) await this.#round(signal);
				if (replica.state.kind === 'deleted') await this.#attempt(() => this.#remove(), signal);
				await this.#pause(isReady ? interval : Math.min(interval, unreadyPause), signal);
			}
		} catch (error) {
			if (!signal.aborted) throw error;
		}
	}

	/** Waits until the next round, or until the environment is deleted. */
	async #pause(interval: number, signal: AbortSignal): Promise<void> {
		const { replica } = this.options;
		const woken = new AbortController();
		const wake = () => woken.abort();
		const notice = () => {
			if (replica.state.kind === 'deleted') wake();
		};
		replica.revisions.add(notice);
		signal.addEventListener('abort', wake);
		if (signal.aborted) wake();
		// It rejects when it is woken.
		await sleep(interval, undefined, { signal: woken.signal, ref: false }).catch(() => undefined);
		replica.revisions.remove(notice);
		signal.removeEventListener('abort', wake);
	}

	async #round(signal: AbortSignal): Promise<void> {
		await this.#attempt(async () => {
			while (await this.#step(signal));
		}, signal);
	}

	async #attempt(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
		try {
			await work();
			this.#failing = false;
		} catch (error) {
			this.#etag = undefined;
			if (signal.aborted) return;
			if (!this.#failing) this.options.log.warn({ error }, 'the offline copy cannot be kept up to date');
			this.#failing = true;
		}
	}

	/** Deletes the copy, since there is nothing any more that it would be of. */
	async #remove(): Promise<void> {
		this.#environment = undefined;
		this.#etag = undefined;
		await this.options.copy.remove();
	}

	/** Copies what the feed has next. Returns whether there may be more. */
	async #step(signal: AbortSignal): Promise<boolean> {
		const { feed, copy, verify, replica } = this.options;
		this.#environment ??= await feed.environment(signal);
		const environment = this.#environment;
		if (this.#stepBytes > this.#snapshotBytes + spareBytes) this.#etag = undefined;
		const answer = await feed.poll({ environment, etag: this.#etag, wait: 0 }, signal);
		const asOf = Date.now();
		if (answer.kind === 'unchanged') {
			if (!(await copy.append(null, asOf))) this.#etag = undefined;
			return this.#etag === undefined;
		}
		const { bytes, etag } = answer;
		const files = await unpack(bytes);
		await verify?.(files, (steps) => replica.scheduler.run(steps));
		const { kind } = parseManifest(files).metadata.regolith;
		if (kind === 'snapshot') {
			await copy.replace({ environment, etag, bytes }, asOf);
			this.#snapshotBytes = bytes.length;
			this.#stepBytes = 0;
		} else if (await copy.append({ environment, etag, bytes }, asOf)) {
			this.#stepBytes += bytes.length;
		} else {
			this.#etag = undefined;
			return true;
		}
		this.#etag = etag;
		return true;
	}
}
