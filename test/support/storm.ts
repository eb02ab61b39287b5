import type { Client } from './client.js';
import { eventually } from './eventually.js';
import type { Random } from './random.js';
import { Watcher } from './watcher.js';
import type { World } from './world.js';
import { Acknowledgements, settle, type Targets, Writer } from './writer.js';

/** How a storm is going. Every number only grows. */
interface Progress {
	/** Acknowledged writes. */
	readonly acknowledged: number;
	/** Requests that got no answer, and so may have been committed or not. */
	readonly unanswered: number;
	/** Answers of decision points that were held against what must be so at their revision. */
	readonly verified: number;
	/** The newest acknowledged revision. */
	readonly revision: number;
}

/** What a storm left behind. */
export interface Aftermath extends Progress {
	/** The facts that must be in the store now, no others beside those that were there before. */
	readonly worlds: readonly World[];
	/** A revision at which decision points must know all of it. */
	readonly settled: number;
}

/** Writers that go on until they are told to stop, and whoever watches the decision points meanwhile. */
export interface Storm {
	readonly progress: Progress;
	/** Resolves when this many more writes have been acknowledged; rejects with what a writer found wrong. */
	more(acknowledged: number): Promise<void>;
	/** Lets the running requests end. The API must be up. Rejects with what was found wrong. */
	stop(): Promise<Aftermath>;
}

/** Begins a storm of `writers` concurrent writers, each in a world of its own. */
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
	// Whoever waits is told; nobody waiting at the moment is no reason to crash.
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
