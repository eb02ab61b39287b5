/** Keeps the offline copy up to date without delaying the replica. */

import { setTimeout as sleep } from 'node:timers/promises';
import { BundleError, parseManifest, unpack } from '../../bundle/bundle.js';
import type { Logger } from '../../log.js';
import type { VerifyBundle } from './bundle-verifier.js';
import type { FeedClient } from './feed-client.js';
import type { OfflineCopy } from './offline-copy.js';
import type { StartedPoint } from './readiness.js';
import type { Replica, ReplicaState } from './replica.js';

/** Pause between updates of the copy, in milliseconds. */
const defaultInterval = 60_000;

/** Pause before the next check of a replica that is not ready, in milliseconds. */
const unreadyPause = 1_000;

/** Number of bytes by which the deltas in the copy may exceed its snapshot before the copy is rewritten. */
const spareBytes = 1024 * 1024;

export interface OfflineCopierOptions {
	readonly copy: OfflineCopy;
	/** Control plane feed. */
	readonly feed: FeedClient;
	readonly replica: Pick<Replica, 'hasEnded' | 'state' | 'scheduler'> & Pick<StartedPoint, 'changes'>;
	/** As in `ReplicaOptions`. */
	readonly verify?: VerifyBundle | undefined;
	readonly log: Logger;
	/** Pause between updates of the copy, in milliseconds. */
	readonly interval?: number;
}

/** Follows the feed like a decision point and writes the bundles to disk. */
export class OfflineCopier {
	readonly #stopping = new AbortController();
	#running: Promise<void> | undefined;
	#environment: string | undefined;
	/** ETag for the last copied bundle; `undefined` requests a snapshot. */
	#etag: string | undefined;
	#snapshotBytes = 0;
	#stepBytes = 0;
	#failing = false;
	/** State for which the copy was deleted. */
	#removed: ReplicaState['kind'] | undefined;

	constructor(private readonly options: OfflineCopierOptions) {}

	/** Starts copying. The first round waits until the replica is ready. */
	start(): void {
		this.#running ??= this.#run();
	}

	/** Stops copying. Resolves when no write is pending. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		await this.#running;
		const { kind } = this.options.replica.state;
		// A rejected key may end the process before the next round.
		if (this.#running !== undefined && isOver(kind)) await this.#remove(kind).catch(() => undefined);
	}

	async #run(): Promise<void> {
		const { replica, interval = defaultInterval } = this.options;
		const { signal } = this.#stopping;
		while (!signal.aborted) {
			const { kind } = replica.state;
			// A stale replica has started from the copy or lost its control plane, so there is nothing to copy.
			if (kind === 'ready') await this.#round(signal);
			else if (isOver(kind)) await this.#attempt(() => this.#remove(kind), signal);
			await this.#pause(kind === 'ready' ? interval : Math.min(interval, unreadyPause), signal);
		}
	}

	/** Waits until the next round, until the replica is ready, or until there is nothing left to copy. */
	async #pause(interval: number, signal: AbortSignal): Promise<void> {
		const { replica } = this.options;
		const { kind: before } = replica.state;
		const woken = new AbortController();
		const wake = () => woken.abort();
		const notice = () => {
			const { kind } = replica.state;
			if (kind !== before && (kind === 'ready' || isOver(kind))) wake();
		};
		replica.changes.add(notice);
		signal.addEventListener('abort', wake);
		if (signal.aborted) wake();
		// The sleep rejects when it is woken.
		await sleep(interval, undefined, { signal: woken.signal, ref: false }).catch(() => undefined);
		replica.changes.remove(notice);
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
			if (!this.#failing) this.options.log.warn({ error }, 'the offline copy cannot be updated');
			this.#failing = true;
		}
	}

	/**
	 * Deletes the copy because the environment was deleted or its key was rejected. After a restart, data from a
	 * rejected key must not be used for decisions. A copy for a different key stays, because this process may have been
	 * started with a wrong key.
	 */
	async #remove(kind: ReplicaState['kind']): Promise<void> {
		const { copy } = this.options;
		if (this.#removed === kind) return;
		this.#environment = undefined;
		this.#etag = undefined;
		if (kind === 'deleted' || (await copy.read()) !== undefined) await copy.remove();
		this.#removed = kind;
	}

	/** Copies the feed's next response. Returns true if there may be more. */
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
		const { kind, lineage } = parseManifest(files).metadata.regolith;
		if (replica.hasEnded(lineage)) throw new BundleError(`the feed went back to lineage ${lineage}, which has ended`);
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
		this.#removed = undefined;
		return true;
	}
}

/** True if the environment was deleted or the control plane rejected the key, so there is nothing left to copy. */
function isOver(kind: ReplicaState['kind']): boolean {
	return kind === 'deleted' || kind === 'refused';
}
