import type { Client } from './client.js';
import { eventually } from './eventually.js';
import type { Random } from './random.js';
import { Watcher } from './watcher.js';
import type { World } from './world.js';
import { Acknowledgements, settle, type Targets, Writer } from './writer.js';

/** Progress in a storm. The numbers never decrease. */
interface Progress {
	/** Acknowledged writes so far. */
	readonly acknowledged: number;
	/** Requests without a response. Their writes may be committed or lost. */
	readonly unanswered: number;
	/** Decision point results compared with the expected state at their revision. */
	readonly verified: number;
	/** Newest acknowledged revision. */
	readonly revision: number;
}

/** Final storm state. */
export interface Aftermath extends Progress {
	/** Facts that must now be in the store, in addition to earlier facts. */
	readonly worlds: readonly World[];
	/** Revision at which decision points must have received all writes. */
	readonly settled: number;
}

/** Writers that run until they are stopped, and watchers for the decision points. */
export interface Storm {
	readonly progress: Progress;
	/** Resolves when `acknowledged` further writes are acknowledged. Rejects if a writer or watcher finds an error. */
	more(acknowledged: number): Promise<void>;
	/**
	 * Stops the writers, and waits for their pending requests. The API must be running. Rejects if an error was found.
	 */
	stop(): Promise<Aftermath>;
}

/** Starts a storm with `writers` concurrent writers, each with a separate world. */
export function startStorm(targets: Targets, pdps: readonly Client[], writers: number, random: Random): Storm {
	const stopping = new AbortController();
	const { signal } = stopping;
	const acknowledgements = new Acknowledgements();
	const watchers = pdps.map((pdp) => new Watcher(pdp));
	const worlds = Array.from({ length: writers }, (_, number) => {
		const writer = new Writer(number, targets, random.fork(), acknowledgements, watchers);
		return { writer, world: writer.run(signal) };
	});
	const work = [...worlds.map(({ world }) => world), ...watchers.map((watcher) => watcher.run(signal))];
	const failed = Promise.all(work).then(() => new Promise<never>(() => undefined));
	// Waiting callers get the error. If no caller is waiting, the error must not crash the process.
	failed.catch(() => stopping.abort());
	const progress: Progress = {
		get acknowledged() {
			return acknowledgements.count;
		},
		get unanswered() {
			return worlds.reduce((sum, { writer }) => sum + writer.unanswered, 0);
		},
		get verified() {
			return worlds.reduce((sum, { writer }) => sum + writer.verified, 0);
		},
		get revision() {
			return acknowledgements.newest;
		},
	};
	return {
		progress,
		async more(acknowledged) {
			const goal = acknowledgements.count + acknowledged;
			const reached = eventually(() => signal.aborted || acknowledgements.count >= goal, Boolean, {
				interval: 2,
				deadline: 60_000,
			});
			await Promise.race([reached, failed]);
		},
		async stop() {
			stopping.abort();
			await Promise.all(work);
			const settled = await settle(targets, 'end', acknowledgements);
			return { ...progress, worlds: await Promise.all(worlds.map(({ world }) => world)), settled };
		},
	};
}
