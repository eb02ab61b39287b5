/** Keeps an environment in this process. Follows the feed, and provides the engine for answers. */

import type { Patch } from '../../../compiler/model.js';
import {
	BundleError,
	type Degradation,
	type Manifest,
	parseManifest,
	parsePatches,
	parsePatchesInSteps,
	SignatureError,
	unpack,
} from '../../bundle/bundle.js';
import { errorMessage } from '../../failure.js';
import { SliceScheduler } from '../../limit/slice-scheduler.js';
import type { EventLog } from '../../log.js';
import type { DecidingEngine, Engine, Run } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import type { VerifyBundle } from './bundle-verifier.js';
import { DegradationAlarm } from './degradation-alarm.js';
import { denyingEngine, emptyIndex } from './deleted-environment.js';
import { connectFeed, EnvironmentGone, type FeedBundle, type FeedClient, Refusal } from './feed-client.js';
import { Leases } from './leases.js';
import { Listeners } from './listeners.js';
import { compileModule, type EngineAndIndex, loadSnapshot } from './load-snapshot.js';
import { isPast, LineageEnded, type Progress, type WantedRevision } from './progress.js';
import { pause as pauseFor, type Timer, unreferenced } from './timer.js';

/** State detail before the first attempt. */
export const nothingYet = 'nothing is loaded yet';

/** Replica state. A `stale` replica still answers, from its last revision. A `deleted` replica denies everything. */
export interface ReplicaState {
	readonly kind: 'starting' | 'ready' | 'stale' | 'refused' | 'deleted';
	/** Human-readable problem; empty if `ready`. */
	readonly detail: string;
	/** True if the problem is a bundle with a missing or wrong signature. */
	readonly untrusted?: boolean;
}

/** Pauses between attempts, in milliseconds. */
export interface Pace {
	/** Pause after the first failure; doubled after each further failure. */
	readonly first: number;
	readonly longest: number;
	/** Pause while the control plane refuses the key. */
	readonly refused: number;
	/** Pause between two full fetches; 10 s by default. */
	readonly refetch?: number;
}

/** An applied bundle: its kind and the resulting revision. */
export interface AppliedBundle {
	readonly kind: 'snapshot' | 'delta' | 'policy';
	readonly revision: number;
}

/** Lineage that the replica left, because the control plane's history was cut. */
export interface LeftLineage {
	readonly lineage: string;
	/** Last revision used for answers. */
	readonly revision: number;
	/** Time when the replica left the lineage, in ISO 8601. */
	readonly at: string;
}

/** Calls `apply`, which applies a bundle, and measures or traces the call. Settles with the result of `apply`. */
export type ApplyBundle = (bundle: FeedBundle, apply: () => Promise<AppliedBundle>) => Promise<AppliedBundle>;

export interface ReplicaOptions {
	/** Control plane URL without a path. */
	readonly controlPlane: string;
	/** API key for the environment to follow. */
	readonly apiKey: string;
	readonly log: EventLog;
	readonly pace?: Pace;
	/** Number of seconds that the control plane may delay its answer to a request. */
	readonly wait?: number;
	/** Feed to follow instead of the control plane over HTTP. */
	readonly feed?: FeedClient;
	/** Verifies each bundle before its files are read. Without this callback, bundles are not verified. */
	readonly verify?: VerifyBundle | undefined;
	/** Scheduler for long calculations; a new scheduler by default. */
	readonly scheduler?: SliceScheduler;
	/** Readers of the held revision; a new set by default. */
	readonly leases?: Leases;
	/** Wraps each bundle application. Without this callback, bundles are applied directly. */
	readonly applying?: ApplyBundle;
	/** Lineages known to have ended. */
	readonly ended?: Iterable<string>;
}

/** Engine and facts at a revision, ready to answer. */
export interface LoadedRevision {
	readonly engine: DecidingEngine;
	readonly facts: FactsIndex;
	/** The revision's lineage; empty if the control plane does not name it. */
	readonly lineage: string;
	readonly revision: number;
	/** The revision's random token; empty if the control plane does not name it. */
	readonly token: string;
	/**
	 * Newest revision whose policy is active here. Same as `revision`, unless the policy of `revision` is still pending.
	 */
	readonly policyRevision: number;
	/** Reason why the active policy is not the newest schema's complete policy; `null` if it is. */
	readonly degraded: Degradation | null;
}

/** Target for patches. */
interface Base extends EngineAndIndex {
	/** True if this engine already answers checks. */
	readonly used: boolean;
}

interface Holding extends LoadedRevision, EngineAndIndex {
	readonly engine: Engine;
	readonly environment: string;
	/** Last applied refresh; `null` before the first refresh. */
	readonly updateId: string | null;
	/** Feed ETag for this revision; `undefined` requests a snapshot. */
	readonly etag: string | undefined;
}

const defaultPace: Pace = { first: 50, longest: 5_000, refused: 5_000 };
/** Pause between two full fetches, in milliseconds. */
const refetchPause = 10_000;
/**
 * If a server answers "unchanged" within this time, in milliseconds, it did not wait for a new revision. The client
 * then waits for this time.
 */
const minWait = 100;
/**
 * Maximum patch file size to apply without a pause, in bytes. This is about a thousand patches, and takes a few
 * milliseconds. Larger patch files are applied to a copy, in slices.
 */
const maxAtOnce = 128 * 1024;

/**
 * An environment's data and policy, kept up to date from `start` to `stop`. INVARIANT: the revision never decreases
 * within a lineage, an ended lineage is never used again, and a bundle is applied completely or not at all.
 */
export class Replica implements Progress {
	/** Notified with each new revision when answers begin to use it. */
	readonly revisions = new Listeners<number>();
	/** Notified with the state when a new problem occurs. */
	readonly troubles = new Listeners<ReplicaState>();
	/** Notified when the state or the revision may have changed. */
	readonly changes: Pick<Listeners<unknown>, 'add' | 'remove'> = {
		add: (listener) => {
			this.revisions.add(listener);
			this.troubles.add(listener);
		},
		remove: (listener) => {
			this.revisions.remove(listener);
			this.troubles.remove(listener);
		},
	};
	/** Runs all long calculations, for answers and for feed bundles. */
	readonly scheduler: SliceScheduler;
	/** Readers that span several turns of the event loop. */
	readonly leases: Leases;
	readonly #feed: FeedClient;
	readonly #log: EventLog;
	readonly #verify: VerifyBundle | undefined;
	readonly #pace: Pace;
	readonly #wait: number;
	readonly #stopping = new AbortController();
	readonly #degradation: DegradationAlarm;
	readonly #applying: ApplyBundle;
	#following: Promise<void> | undefined;
	#environment: string | undefined;
	#held: Holding | undefined;
	/**
	 * Loaded snapshot that is not in use yet. The feed is polled again before the snapshot is used, because a snapshot may
	 * be older than the held revision.
	 */
	#next: Holding | undefined;
	/** Revision for answers after the environment was deleted. */
	#deleted: LoadedRevision | undefined;
	/** Ended lineages, which this replica has left or which bundles have named. */
	readonly #ended: Set<string>;
	/** Last held lineage and revision. Kept even after the revision is dropped. */
	#last: Pick<Holding, 'lineage' | 'revision'> | undefined;
	#left: LeftLineage | undefined;
	#lineageChanges = 0;
	#failures = 0;
	/** Last feed answer: its time on the monotonic clock, and the age of its data at this time, in milliseconds. */
	#answered: { readonly at: number; readonly age: number } | undefined;
	/** Newest feed revision, if newer than the revision in use, and the time since which the replica has lagged behind. */
	#ahead: { readonly revision: number; readonly since: number } | undefined;
	/** Aborts the pending poll to start a full fetch. */
	#interrupt = new AbortController();
	/** True if the next request must ask for a snapshot, even if a revision is held. */
	#anew = false;
	/** Earliest time for the next full fetch, by `performance.now`. */
	#refetchFrom = Number.NEGATIVE_INFINITY;
	#refetching: Timer | undefined;
	#state: ReplicaState = { kind: 'starting', detail: nothingYet };

	constructor(options: ReplicaOptions) {
		const { controlPlane, apiKey, log, pace = defaultPace, wait = 30, scheduler, leases, feed, verify } = options;
		this.#applying = options.applying ?? ((_, apply) => apply());
		this.scheduler = scheduler ?? new SliceScheduler();
		this.leases = leases ?? new Leases();
		this.#feed = feed ?? connectFeed(controlPlane, apiKey);
		this.#verify = verify;
		this.#log = log;
		this.#degradation = new DegradationAlarm(log);
		this.#pace = pace;
		this.#wait = wait;
		this.#ended = new Set(options.ended);
	}

	start(): void {
		this.#following ??= this.#follow();
	}

	/** Stops following. Resolves when no work is running. The held revision stays in use. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		clearTimeout(this.#refetching);
		this.#degradation.note(undefined);
		await this.#following;
	}

	get state(): ReplicaState {
		return this.#state;
	}

	/**
	 * Returns the revision in use; `undefined` before the first complete revision and after a refusal. For a deleted
	 * environment, returns the last known revision with empty data.
	 */
	current(): LoadedRevision | undefined {
		if (this.#state.kind === 'deleted') return this.#deleted;
		return this.#held?.engine.broken === undefined ? this.#held : undefined;
	}

	/** As in `Progress`. */
	get lineage(): string {
		return this.current()?.lineage ?? '';
	}

	/** As in `Progress`. */
	get revision(): number {
		return this.current()?.revision ?? -1;
	}

	/** Last applied refresh; `null` before the first refresh. */
	get updateId(): string | null {
		return this.#held?.updateId ?? null;
	}

	/** As in `Progress`. */
	get policyRevision(): number {
		return this.current()?.policyRevision ?? -1;
	}

	/** Lineages known to have ended. */
	get ended(): readonly string[] {
		return [...this.#ended];
	}

	/** Lineage left most recently. */
	get left(): LeftLineage | undefined {
		return this.#left;
	}

	/** Number of lineage changes. */
	get lineageChanges(): number {
		return this.#lineageChanges;
	}

	/** Time since the data was last known to be the newest, in milliseconds; 0 before the first answer. */
	get dataAge(): number {
		return this.#answered === undefined ? 0 : this.#answered.age + performance.now() - this.#answered.at;
	}

	/** Memory size for the engine in use, in bytes: data and total. Zero without an engine. */
	get memory(): { readonly heapBytes: number; readonly memoryBytes: number } {
		const { heapBytes = 0, memoryBytes = 0 } = this.#held?.engine ?? {};
		return { heapBytes, memoryBytes };
	}

	/** Lag behind the newest known feed revision, in revisions and in milliseconds. */
	get behind(): { readonly revisions: number; readonly milliseconds: number } {
		const [ahead, revision] = [this.#ahead, this.revision];
		if (ahead === undefined || ahead.revision <= revision) return { revisions: 0, milliseconds: 0 };
		const revisions = ahead.revision - Math.max(revision, 0);
		return { revisions, milliseconds: performance.now() - ahead.since };
	}

	/**
	 * Fetches everything again, immediately or when the pause since the last full fetch has passed. The held revision
	 * stays in use until the fetched revision is loaded. Several calls during the pause cause a single fetch.
	 */
	refetch(): void {
		if (this.#refetching !== undefined || this.#anew || this.#stopping.signal.aborted) return;
		const wait = Math.max(0, this.#refetchFrom - performance.now());
		const begin = () => {
			this.#refetching = undefined;
			this.#refetchFrom = performance.now() + (this.#pace.refetch ?? refetchPause);
			this.#anew = true;
			this.#interrupt.abort();
		};
		this.#refetching = unreferenced(setTimeout(begin, wait));
	}

	/** As in `Progress`. Also resolves when the environment is deleted. */
	reached(wanted: WantedRevision, signal?: AbortSignal): Promise<void> {
		return this.#until(() => isPast(this, wanted), wanted, signal);
	}

	/** Like `reached`, for the revision's policy. */
	policyReached(wanted: WantedRevision, signal?: AbortSignal): Promise<void> {
		return this.#until(() => isPast({ lineage: this.lineage, revision: this.policyRevision }, wanted), wanted, signal);
	}

	/**
	 * Resolves when this replica has caught up with the passed progress. If the replica has a different lineage, it is the
	 * newer lineage, because ended lineages are never accepted.
	 */
	async caughtUp({ lineage, revision, policyRevision }: Pick<Progress, 'lineage' | 'revision' | 'policyRevision'>) {
		if (lineage === '') return;
		const isCaughtUp = () =>
			this.lineage === lineage
				? this.revision >= revision && this.policyRevision >= policyRevision
				: this.current() !== undefined;
		await this.#until(isCaughtUp, 0, undefined);
	}

	/** True if the lineage is known to have ended. */
	hasEnded(lineage: string): boolean {
		return this.#ended.has(lineage);
	}

	async #until(isReached: () => boolean, wanted: WantedRevision, signal: AbortSignal | undefined): Promise<void> {
		while (this.#state.kind !== 'deleted' && !isReached()) {
			const lineage = typeof wanted === 'number' ? null : wanted.lineage;
			if (lineage !== null && this.#ended.has(lineage)) {
				throw new LineageEnded(`the lineage ${lineage} has ended: what was written in it may be lost`);
			}
			await this.revisions.next(signal);
		}
	}

	async #follow(): Promise<void> {
		const { signal } = this.#stopping;
		while (!signal.aborted) {
			let pause: number;
			try {
				pause = await this.#interruptible((interrupted) => this.#step(interrupted));
				this.#failures = 0;
			} catch (error) {
				if (signal.aborted) return;
				pause = this.#interrupt.signal.aborted ? 0 : this.#failed(error);
			}
			if (pause > 0) await pauseFor(pause, signal);
		}
	}

	/** Runs a step with a signal. `stop` and `refetch` abort this signal. */
	async #interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const interrupt = new AbortController();
		this.#interrupt = interrupt;
		const { signal: stopping } = this.#stopping;
		const stop = () => interrupt.abort();
		stopping.addEventListener('abort', stop);
		try {
			return await run(interrupt.signal);
		} finally {
			stopping.removeEventListener('abort', stop);
		}
	}

	/** Polls the feed once and applies its answer. Returns the pause in milliseconds. */
	async #step(signal: AbortSignal): Promise<number> {
		if (this.#anew) this.#forgetSteps();
		const environment = this.#environment ?? (await this.#feed.environment(signal));
		this.#environment = environment;
		if (this.#held !== undefined && this.#held.environment !== environment) {
			this.#drop(`the key belongs to environment ${environment} now`);
		}
		const preparing = this.#next !== undefined;
		const base = this.#next ?? this.#held;
		const wait = preparing || base?.etag === undefined ? 0 : this.#wait;
		const started = performance.now();
		const answer = await this.#feed.poll({ environment, etag: base?.etag, wait }, signal);
		const answeredAt = performance.now();
		if (answer.kind === 'bundle') {
			this.#noteAhead(answer.revision);
			await this.#applying(answer, () => this.#take(answer, environment));
		}
		// This point is not reached if applying the bundle fails. In that case there is newer data, so the answer must not
		// reset the age.
		const age = answer.asOf === undefined ? 0 : Math.max(0, Date.now() - answer.asOf);
		this.#answered = { at: answeredAt, age };
		const isPassing = answer.kind === 'bundle' && answer.isPassing;
		if (preparing && !isPassing) this.#promote();
		if (answer.kind === 'unchanged' && answer.offline === true) this.#answerOffline(answer.asOf);
		else if (this.#next === undefined) this.#becomeReady();
		if (answer.kind === 'bundle' || wait === 0) return 0;
		if (!answer.waits) return this.#pace.longest;
		return performance.now() - started < minWait ? minWait : 0;
	}

	/** Records the newest feed revision, and the time since which the replica has lagged behind. */
	#noteAhead(revision = Number.NEGATIVE_INFINITY): void {
		if (revision <= this.revision) return;
		const { since } = this.behind.revisions > 0 && this.#ahead ? this.#ahead : { since: performance.now() };
		this.#ahead = { revision, since };
	}

	/** Drops the ETags, so that the next request asks for a snapshot. */
	#forgetSteps(): void {
		this.#anew = false;
		this.#next = undefined;
		if (this.#held !== undefined) this.#held = { ...this.#held, etag: undefined };
	}

	/**
	 * Applies a bundle. Prepares a snapshot without using it yet. A step continues the prepared revision, or else the held
	 * revision.
	 */
	async #take({ bytes, etag, updateId }: FeedBundle, environment: string): Promise<AppliedBundle> {
		const preparing = this.#next !== undefined;
		try {
			const files = await unpack(bytes);
			await this.#verify?.(files, this.#run);
			const manifest = parseManifest(files);
			this.#refuseForeign(manifest, environment);
			const large = isLarge(files);
			const patches = large ? await this.#run(parsePatchesInSteps(files)) : parsePatches(files);
			const base = await this.#baseFor(manifest, files, large);
			const { engine, facts } = base.used ? base : await this.#patched(base, patches);
			// No `await` from here until the new revision is stored, because answers must never contain a wrong revision number.
			if (base.used) {
				engine.patch(patches);
				facts.patch(patches);
			}
			const { lineage, token, policy_revision, degraded, kind } = manifest.metadata.regolith;
			const taken: Holding = {
				engine,
				facts,
				lineage,
				token,
				revision: Number(manifest.revision),
				policyRevision: Number(policy_revision),
				degraded,
				updateId: updateId ?? (this.#next ?? this.#held)?.updateId ?? null,
				etag,
				environment,
			};
			this.#noteEnded(manifest);
			if (preparing || kind === 'snapshot') this.#next = taken;
			else this.#hold(taken);
			return { kind, revision: taken.revision };
		} catch (error) {
			// Do not request the same step again. Without an ETag, the feed sends a snapshot.
			if (!preparing && this.#held !== undefined) this.#held = { ...this.#held, etag: undefined };
			throw error;
		} finally {
			this.leases.changed();
		}
	}

	#hold(holding: Holding): void {
		if (this.#held?.engine !== holding.engine) this.leases.replaced();
		this.#noteLineage(holding);
		const { revision, updateId } = holding;
		if (this.#held !== undefined && updateId !== this.updateId)
			this.#log.info({ update_id: updateId, revision }, 'took the snapshot of a refresh');
		this.#held = holding;
		this.#degradation.note(holding);
		this.#log.debug({ revision: holding.revision, heap_bytes: holding.engine.heapBytes }, 'applied a bundle');
		this.revisions.tell(holding.revision);
	}

	/** Records a new revision's lineage, and the lineage that it replaces. */
	#noteLineage({ lineage, revision }: Holding): void {
		const last = this.#last;
		this.#last = { lineage, revision };
		if (last === undefined || last.lineage === lineage) return;
		this.#ended.add(last.lineage);
		this.#ahead = undefined;
		// Earlier API versions named no lineage.
		if (last.lineage === '') return;
		this.#lineageChanges += 1;
		this.#left = { ...last, at: new Date().toISOString() };
		this.#log.warn(
			{ lineage, revision, left: this.#left },
			'the control plane has begun a new lineage: its database lost or may have lost revisions',
		);
	}

	#noteEnded({ metadata: { regolith } }: Manifest): void {
		if (regolith.kind !== 'snapshot') return;
		for (const lineage of regolith.former_lineages) if (lineage !== regolith.lineage) this.#ended.add(lineage);
	}

	/** Puts the prepared revision into use. The last poll has shown that there is no newer revision. */
	#promote(): void {
		const next = this.#next;
		this.#next = undefined;
		if (next === undefined) return;
		this.#refuseGoingBack(next);
		this.#hold(next);
	}

	#refuseForeign({ revision, metadata }: Manifest, environment: string): void {
		const { environment: theirs, lineage, kind } = metadata.regolith;
		if (theirs !== environment) {
			this.#environment = undefined;
			throw new BundleError(`the feed sent a bundle of environment ${theirs}`);
		}
		const base = this.#next ?? this.#held;
		if (kind !== 'snapshot' && base !== undefined && base.lineage !== lineage) {
			throw new BundleError(`the feed sent a ${kind} of lineage ${lineage}; lineage ${base.lineage} is held`);
		}
		// This may be a replayed old step. If it were applied to newer data, the result would be a state that never existed.
		if (kind !== 'snapshot' && base !== undefined && Number(revision) < base.revision) {
			throw new BundleError(`the feed sent a ${kind} to revision ${revision}; revision ${base.revision} is held`);
		}
		this.#refuseEnded(lineage);
		// A snapshot requested without an ETag may be old. The next answer then contains the newer revisions.
		if (this.#next === undefined && this.#held?.etag !== undefined) {
			this.#refuseGoingBack({ lineage, revision: Number(revision) });
		}
	}

	#refuseEnded(lineage: string): void {
		if (this.#ended.has(lineage)) throw new BundleError(`the feed went back to lineage ${lineage}, which has ended`);
	}

	#refuseGoingBack({ lineage, revision }: Pick<Holding, 'lineage' | 'revision'>): void {
		this.#refuseEnded(lineage);
		const held = this.#held;
		if (held === undefined || held.lineage !== lineage || revision >= held.revision) return;
		throw new BundleError(`the feed went back to revision ${revision}; revision ${held.revision} is kept`);
	}

	/**
	 * Returns the engine and the index to patch. Returns copies if the originals are being read over several turns, if the
	 * change would take too long, or if the policy is new. In these cases, the originals stay in use.
	 */
	async #baseFor(manifest: Manifest, files: ReadonlyMap<string, Uint8Array>, large: boolean): Promise<Base> {
		const step = manifest.metadata.regolith;
		if (step.kind === 'snapshot') {
			const { engine, facts } = await loadSnapshot(files, this.#run);
			return { engine, facts, used: false };
		}
		const base = this.#next ?? this.#held;
		if (base === undefined || base.engine.broken !== undefined || Number(step.base) > base.revision) {
			throw new BundleError(`a ${step.kind} from revision ${step.base} does not continue what is held`);
		}
		const { engine, facts } = base;
		if (step.kind === 'delta' && base === this.#next) return { engine, facts, used: false };
		if (step.kind === 'delta' && !large && (await this.leases.settle(copyingTime(engine))) === 'in place') {
			return { engine, facts, used: true };
		}
		const next = step.kind === 'policy' ? engine.fork(await compileModule(files), this.#run) : engine.copy(this.#run);
		return { engine: await next, facts: await this.#run(facts.copying()), used: false };
	}

	/** Applies patches to an engine and an index that are not in use yet. */
	async #patched(base: Base, patches: readonly Patch[]): Promise<Base> {
		await this.#run(base.engine.patching(patches));
		await this.#run(base.facts.patching(patches));
		return base;
	}

	readonly #run: Run = (steps) => this.scheduler.run(steps);

	#answerOffline(asOf = 0): void {
		const as_of = new Date(asOf).toISOString();
		const revision = this.#held?.revision;
		this.#log.warn({ revision, as_of }, 'the decision point answers from its offline copy');
		this.#state = { kind: 'stale', detail: `it answers from its offline copy, of ${as_of}` };
	}

	#becomeReady(): void {
		if (this.#state.kind === 'ready' || this.#held === undefined) return;
		const { revision, environment } = this.#held;
		this.#state = { kind: 'ready', detail: '' };
		this.#log.info({ revision, environment }, 'the decision point is up to date');
	}

	/** Records a failure. Returns the pause in milliseconds. */
	#failed(error: unknown): number {
		const detail = errorMessage(error);
		this.#next = undefined;
		this.#failures += 1;
		if (error instanceof Refusal) {
			this.#environment = undefined;
			// After some time, a control plane may no longer know a deleted environment, and only refuse its key. The
			// environment stays deleted.
			if (error instanceof EnvironmentGone) this.#becomeDeleted(detail);
			else if (this.#state.kind !== 'deleted') this.#refuse(detail);
			return jittered(this.#pace.refused);
		}
		if (this.#state.kind === 'deleted') return jittered(this.#pace.refused);
		const untrusted = error instanceof SignatureError;
		this.#move(this.current() === undefined ? 'starting' : 'stale', detail, untrusted);
		return jittered(Math.min(this.#pace.first * 2 ** (this.#failures - 1), this.#pace.longest));
	}

	#refuse(detail: string): void {
		this.#drop(detail);
		this.#move('refused', detail);
	}

	#becomeDeleted(detail: string): void {
		this.#answered = { at: performance.now(), age: 0 };
		if (this.#state.kind === 'deleted') return;
		const { lineage = '', revision = 0, policyRevision = 0 } = this.#held ?? {};
		this.#deleted = {
			engine: denyingEngine,
			facts: emptyIndex,
			lineage,
			token: '',
			revision,
			policyRevision,
			degraded: null,
		};
		this.#drop(detail);
		this.#move('deleted', detail);
		this.revisions.tell(revision);
	}

	#drop(reason: string): void {
		if (this.#held !== undefined) this.#log.warn({ revision: this.#held.revision }, `dropped what was held: ${reason}`);
		this.#held = undefined;
		this.#degradation.note(undefined);
		this.leases.lose();
	}

	#move(kind: ReplicaState['kind'], detail: string, untrusted = false): void {
		// Log each new problem once, not on each attempt.
		const isNew = this.#state.kind !== kind || this.#state.detail !== detail;
		if (isNew) this.#log.warn({ state: kind }, detail);
		this.#state = { kind, detail, untrusted };
		if (isNew) this.troubles.tell(this.#state);
	}
}

/** True if the change is so large that it must be made in a copy. */
function isLarge(files: ReadonlyMap<string, Uint8Array>): boolean {
	return (files.get('patch.json')?.byteLength ?? 0) > maxAtOnce;
}

/** Returns the estimated time to copy an engine: a millisecond per MiB. */
function copyingTime({ heapBytes }: Engine): number {
	return heapBytes / 1024 ** 2;
}

/**
 * Returns a random time from `milliseconds / 2` to `milliseconds`, so that decision points do not all reconnect
 * simultaneously.
 */
function jittered(milliseconds: number): number {
	return milliseconds * (0.5 + Math.random() / 2);
}
