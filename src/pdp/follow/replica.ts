/** Keeps an environment in this process. Follows the feed and provides the engine for decisions. */

import { SignatureError } from '../../bundle/bundle.js';
import { errorMessage } from '../../failure.js';
import { SliceScheduler } from '../../limit/slice-scheduler.js';
import type { EventLog } from '../../log.js';
import type { VerifyBundle } from './bundle-verifier.js';
import { DegradationAlarm } from './degradation-alarm.js';
import { deletedRevision } from './deleted-environment.js';
import { connectFeed, EnvironmentGone, type FeedBundle, type FeedClient, Refusal } from './feed-client.js';
import { FeedLag } from './feed-lag.js';
import { Leases } from './leases.js';
import { type LeftLineage, Lineages } from './lineages.js';
import { Listeners } from './listeners.js';
import { type FeedRevision, ForeignBundle, type LoadedRevision, prepareBundle } from './prepare-bundle.js';
import { isPast, LineageEnded, type Progress, type WantedRevision } from './progress.js';
import { pause as pauseFor, type Timer, unreferenced } from './timer.js';

export type { LoadedRevision } from './prepare-bundle.js';

/** State detail before the first attempt. */
export const nothingYet = 'nothing is loaded yet';

/** Replica state. A `stale` replica still decides, from its last revision. A `deleted` replica denies everything. */
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
	/** Pause while the control plane rejects the key. */
	readonly refused: number;
	/** Pause between two full fetches. */
	readonly refetch: number;
}

type AppliedBundle = Pick<FeedRevision, 'kind' | 'revision'>;

/** Calls `apply`, which applies a bundle, and measures or traces the call. Settles with the result of `apply`. */
export type ApplyBundle = (bundle: FeedBundle, apply: () => Promise<AppliedBundle>) => Promise<AppliedBundle>;

export interface ReplicaOptions {
	/** Control plane URL without a path. */
	readonly controlPlane: string;
	/** API key for the environment to follow. */
	readonly apiKey: string;
	readonly log: EventLog;
	readonly pace?: Partial<Pace>;
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

/** State with its data. A starting replica may hold a revision with a broken engine, which is not used. */
type State = Pick<ReplicaState, 'detail' | 'untrusted'> &
	(
		| { readonly kind: 'starting'; readonly held?: FeedRevision | undefined }
		| { readonly kind: 'ready' | 'stale'; readonly held: FeedRevision }
		| { readonly kind: 'refused'; readonly held?: undefined }
		| { readonly kind: 'deleted'; readonly held?: undefined; readonly answers: LoadedRevision }
	);

const defaultPace: Pace = { first: 50, longest: 5_000, refused: 5_000, refetch: 10_000 };
/** Maximum time in seconds that the control plane may delay its response to a request. */
const longestWait = 30;
/**
 * Minimum time in milliseconds that a waiting server takes to respond "unchanged". If a response arrives sooner, the
 * client pauses for this time.
 */
const minWait = 100;

/**
 * An environment's data and policy, kept up to date from `start` to `stop`. INVARIANT: the revision never decreases
 * within a lineage, an ended lineage is never used again, and a bundle is applied completely or not at all.
 */
export class Replica implements Progress {
	/** Notified with each new revision when decisions begin to use it. */
	readonly revisions = new Listeners<number>();
	/** Notified with the state on each new revision and each new problem. */
	readonly changes = new Listeners<ReplicaState>();
	/** Runs all long calculations, for requests and for feed bundles. */
	readonly scheduler: SliceScheduler;
	/** Readers that span several turns of the event loop. */
	readonly leases: Leases;
	readonly #feed: FeedClient;
	readonly #pace: Pace;
	readonly #degradation: DegradationAlarm;
	readonly #lineages: Lineages;
	readonly #lag = new FeedLag();
	readonly #stopping = new AbortController();
	/** Aborts the pending poll to start a full fetch, or to stop. */
	#interrupt = new AbortController();
	/** Earliest time for the next full fetch, by `performance.now`. */
	#refetchFrom = Number.NEGATIVE_INFINITY;
	#refetching: Timer | undefined;
	#following: Promise<void> | undefined;
	#failures = 0;
	#state: State = { kind: 'starting', detail: nothingYet };
	/** Environment of the key; `undefined` until the feed sends it. */
	#environment: string | undefined;
	/**
	 * Loaded snapshot that is not in use yet. The feed is polled again before the snapshot is used, because a snapshot may
	 * be older than the held revision.
	 */
	#next: FeedRevision | undefined;
	/** True if the next request must ask for a snapshot, even if a revision is held. */
	#wantsSnapshot = false;

	constructor(private readonly options: ReplicaOptions) {
		const { controlPlane, apiKey, log, ended } = options;
		this.scheduler = options.scheduler ?? new SliceScheduler();
		this.leases = options.leases ?? new Leases();
		this.#feed = options.feed ?? connectFeed(controlPlane, apiKey);
		this.#pace = { ...defaultPace, ...options.pace };
		this.#degradation = new DegradationAlarm(log);
		this.#lineages = new Lineages(log, ended);
	}

	start(): void {
		this.#following ??= this.#follow();
	}

	/** Stops following. Resolves when no work is running. The held revision stays in use. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		this.#interrupt.abort();
		clearTimeout(this.#refetching);
		this.#degradation.note(undefined);
		await this.#following;
	}

	get state(): ReplicaState {
		const { kind, detail, untrusted } = this.#state;
		return { kind, detail, ...(untrusted && { untrusted }) };
	}

	/**
	 * Returns the revision in use; `undefined` before the first complete revision and after the key was rejected. For a
	 * deleted environment, returns the last known revision with empty data.
	 */
	current(): LoadedRevision | undefined {
		const state = this.#state;
		if (state.kind === 'deleted') return state.answers;
		return state.held?.engine.broken === undefined ? state.held : undefined;
	}

	get lineage(): string {
		return this.current()?.lineage ?? '';
	}

	get revision(): number {
		return this.current()?.revision ?? -1;
	}

	/** Last applied refresh; `null` before the first refresh. */
	get updateId(): string | null {
		return this.#state.held?.updateId ?? null;
	}

	get policyRevision(): number {
		return this.current()?.policyRevision ?? -1;
	}

	get ended(): readonly string[] {
		return [...this.#lineages.ended];
	}

	get left(): LeftLineage | undefined {
		return this.#lineages.left;
	}

	get lineageChanges(): number {
		return this.#lineages.changes;
	}

	get dataAge(): number {
		return this.#lag.age;
	}

	/** Memory size of the engine in use, in bytes: data and total. Zero without an engine. */
	get memory(): { readonly heapBytes: number; readonly memoryBytes: number } {
		return this.#state.held?.engine ?? { heapBytes: 0, memoryBytes: 0 };
	}

	/** Lag behind the newest known feed revision, in revisions and in milliseconds. */
	get behind(): { readonly revisions: number; readonly milliseconds: number } {
		return this.#lag.behind(this.revision);
	}

	/**
	 * Fetches everything again, immediately or when the pause since the last full fetch has passed. The held revision
	 * stays in use until the fetched revision is loaded. Several calls during the pause cause a single fetch.
	 */
	refetch(): void {
		if (this.#refetching !== undefined || this.#interrupt.signal.aborted) return;
		const begin = () => {
			this.#refetching = undefined;
			this.#refetchFrom = performance.now() + this.#pace.refetch;
			this.#interrupt.abort();
		};
		this.#refetching = unreferenced(setTimeout(begin, Math.max(0, this.#refetchFrom - performance.now())));
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
	 * Resolves when this replica has caught up with the passed progress. A replica in a different lineage has caught up
	 * with its first revision: its lineage is newer, because ended lineages are never accepted.
	 */
	async caughtUp({ lineage, revision, policyRevision }: Pick<Progress, 'lineage' | 'revision' | 'policyRevision'>) {
		if (lineage === '') return;
		const isCaughtUp = () =>
			this.lineage === lineage
				? this.revision >= revision && this.policyRevision >= policyRevision
				: this.current() !== undefined;
		await this.#until(isCaughtUp, 0, undefined);
	}

	hasEnded(lineage: string): boolean {
		return this.#lineages.ended.has(lineage);
	}

	async #until(isReached: () => boolean, wanted: WantedRevision, signal: AbortSignal | undefined): Promise<void> {
		while (this.#state.kind !== 'deleted' && !isReached()) {
			const lineage = typeof wanted === 'number' ? null : wanted.lineage;
			if (lineage !== null && this.hasEnded(lineage)) {
				throw new LineageEnded(`the lineage ${lineage} has ended: the write may be lost`);
			}
			await this.revisions.next(signal);
		}
	}

	async #follow(): Promise<void> {
		const { signal } = this.#stopping;
		while (!signal.aborted) {
			if (this.#interrupt.signal.aborted) {
				this.#next = undefined;
				this.#wantsSnapshot = true;
			}
			this.#interrupt = new AbortController();
			const { signal: interrupted } = this.#interrupt;
			let pause: number;
			try {
				pause = await this.#step(interrupted);
				this.#failures = 0;
			} catch (error) {
				if (signal.aborted) return;
				pause = interrupted.aborted ? 0 : this.#fail(error);
			}
			if (pause > 0) await pauseFor(pause, signal);
		}
	}

	/** Polls the feed once and applies the response. Returns the pause in milliseconds. */
	async #step(signal: AbortSignal): Promise<number> {
		const environment = this.#environment ?? (await this.#feed.environment(signal));
		this.#environment = environment;
		if ((this.#state.held?.environment ?? environment) !== environment)
			this.#enter({ kind: 'starting', detail: `the key now belongs to environment ${environment}` });
		const preparing = this.#next !== undefined;
		const etag = this.#next?.etag ?? (this.#wantsSnapshot ? undefined : this.#state.held?.etag);
		// After a failure, the first response without a wait shows that the held revision is still the newest.
		const wait = preparing || etag === undefined || this.#failures > 0 ? 0 : longestWait;
		const started = performance.now();
		const answer = await this.#feed.poll({ environment, etag, wait }, signal);
		const answeredAt = performance.now();
		if (answer.kind === 'bundle') {
			this.#lag.noteNewest(answer.revision, this.revision);
			const apply = () => this.#apply(answer, environment);
			await (this.options.applying?.(answer, apply) ?? apply());
		}
		// Only reached if the bundle was applied. Otherwise newer data exists, so the response must not reset the age.
		this.#lag.noteAnswer(answeredAt, answer.asOf);
		const isPassing = answer.kind === 'bundle' && answer.isPassing;
		const offlineAsOf = answer.kind === 'unchanged' && answer.offline ? (answer.asOf ?? 0) : undefined;
		const { held } = this.#state;
		// After a snapshot, the feed was polled again, which has shown that there is no newer revision.
		if (this.#next !== undefined && preparing && !isPassing) {
			this.#lineages.refuseGoingBack(this.#next, held);
			this.#use(this.#next, offlineAsOf);
		} else if (this.#next === undefined && held !== undefined) {
			const { kind } = this.#state;
			this.#settle(held, offlineAsOf);
			if (this.#state.kind !== kind) this.changes.tell(this.state);
		}
		if (answer.kind === 'bundle' || wait === 0) return 0;
		if (!answer.waits) return this.#pace.longest;
		return performance.now() - started < minWait ? minWait : 0;
	}

	/**
	 * Applies a bundle. A delta continues the prepared revision, or else the current revision. Does not use a snapshot
	 * yet.
	 */
	async #apply(bundle: FeedBundle, environment: string): Promise<AppliedBundle> {
		const next = this.#next;
		try {
			const apply = await prepareBundle(bundle, {
				environment,
				held: this.#state.held,
				next,
				wantsSnapshot: this.#wantsSnapshot,
				lineages: this.#lineages,
				leases: this.leases,
				verify: this.options.verify,
				run: (steps) => this.scheduler.run(steps),
			});
			// No `await` from here until the new revision is stored, because responses must never contain a wrong revision
			// number.
			const revision = apply();
			if (next !== undefined || revision.kind === 'snapshot') this.#next = revision;
			else this.#use(revision);
			return revision;
		} catch (error) {
			// Do not request the same step again.
			if (next === undefined) this.#wantsSnapshot = true;
			throw error;
		} finally {
			this.leases.changed();
		}
	}

	/** Serves checks from a revision from now on. */
	#use(revision: FeedRevision, offlineAsOf?: number): void {
		const { held } = this.#state;
		if (held?.engine !== revision.engine) this.leases.replaced();
		if (this.#lineages.enter(revision)) this.#lag.forgetNewest();
		const { revision: number, updateId } = revision;
		if (held !== undefined && updateId !== held.updateId)
			this.options.log.info({ update_id: updateId, revision: number }, 'took the snapshot of a refresh');
		this.options.log.debug({ revision: number, heap_bytes: revision.engine.heapBytes }, 'applied a bundle');
		this.#next = undefined;
		this.#wantsSnapshot = false;
		this.#settle(revision, offlineAsOf);
		this.#degradation.note(revision);
		this.revisions.tell(number);
		this.changes.tell(this.state);
	}

	/** Records that the held revision is the newest, or the newest in the offline copy. */
	#settle(held: FeedRevision, offlineAsOf: number | undefined): void {
		const { revision, environment } = held;
		if (offlineAsOf !== undefined) {
			const as_of = new Date(offlineAsOf).toISOString();
			this.options.log.warn({ revision, as_of }, 'the decision point serves checks from its offline copy');
			this.#state = { kind: 'stale', detail: `it serves checks from its offline copy of ${as_of}`, held };
			return;
		}
		if (this.#state.kind !== 'ready')
			this.options.log.info({ revision, environment }, 'the decision point is up to date');
		this.#state = { kind: 'ready', detail: '', held };
	}

	/** Records a failure. Returns the pause in milliseconds. */
	#fail(error: unknown): number {
		const detail = errorMessage(error);
		this.#next = undefined;
		this.#failures += 1;
		if (error instanceof Refusal || error instanceof ForeignBundle) this.#environment = undefined;
		const pause = Math.min(this.#pace.first * 2 ** (this.#failures - 1), this.#pace.longest);
		const { kind, held } = this.#state;
		if (error instanceof EnvironmentGone) this.#lag.noteAnswer(performance.now());
		// After some time, a control plane may no longer know a deleted environment, and only reject its key. The
		// environment stays deleted.
		if (kind === 'deleted') return jittered(this.#pace.refused);
		if (error instanceof EnvironmentGone) {
			const answers = deletedRevision(held);
			this.#enter({ kind: 'deleted', detail, answers });
			this.revisions.tell(answers.revision);
		} else if (error instanceof Refusal) this.#enter({ kind: 'refused', detail });
		else {
			const problem = { detail, untrusted: error instanceof SignatureError };
			const answers = held !== undefined && held.engine.broken === undefined;
			this.#enter(answers ? { kind: 'stale', held, ...problem } : { kind: 'starting', held, ...problem });
		}
		return jittered(error instanceof Refusal ? this.#pace.refused : pause);
	}

	/** Enters a state after a problem. Logs and reports each new problem once, not on each attempt. */
	#enter(state: State): void {
		const { kind, detail, held } = this.#state;
		this.#state = state;
		if (held !== undefined && state.held === undefined) {
			this.options.log.warn({ revision: held.revision }, `dropped the held revision: ${state.detail}`);
			this.#degradation.note(undefined);
			this.leases.lose();
		}
		if (kind === state.kind && detail === state.detail) return;
		this.options.log.warn({ state: state.kind }, state.detail);
		this.changes.tell(this.state);
	}
}

/**
 * Returns a random time from `milliseconds / 2` to `milliseconds` so decision points do not all reconnect
 * simultaneously.
 */
function jittered(milliseconds: number): number {
	return milliseconds * (0.5 + Math.random() / 2);
}
