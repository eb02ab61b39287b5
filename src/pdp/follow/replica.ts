/** Keeps one environment in this process: follows the feed and holds the engine that answers. */

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

/** The detail of the state of a replica that has not tried anything yet. */
export const nothingYet = 'nothing is loaded yet';

/** The state of a replica. `stale` still answers, from its last revision; `deleted` denies everything. */
export interface ReplicaState {
	readonly kind: 'starting' | 'ready' | 'stale' | 'refused' | 'deleted';
	/** What is wrong, for people; empty when `ready`. */
	readonly detail: string;
	/** Whether that is a bundle whose signature is missing or wrong. */
	readonly untrusted?: boolean;
}

/** Pauses between attempts, in milliseconds. */
export interface Pace {
	/** After the first failure; it doubles with each further one. */
	readonly first: number;
	readonly longest: number;
	/** While the control plane refuses the key. */
	readonly refused: number;
	/** Between two times that everything is fetched anew; 10 s unless given. */
	readonly refetch?: number;
}

/** A bundle that was applied: its kind, and the revision that it led to. */
export interface AppliedBundle {
	readonly kind: 'snapshot' | 'delta' | 'policy';
	readonly revision: number;
}

/** A lineage that a replica has left, because the history of the control plane was cut. */
export interface LeftLineage {
	readonly lineage: string;
	/** The revision that answers came from last. */
	readonly revision: number;
	/** When it was left: ISO 8601. */
	readonly at: string;
}

/** Calls `apply`, which applies a bundle, and measures or traces it. Settles as `apply` does. */
export type ApplyBundle = (bundle: FeedBundle, apply: () => Promise<AppliedBundle>) => Promise<AppliedBundle>;

/** What a replica needs. */
export interface ReplicaOptions {
	/** The control plane's URL without a path. */
	readonly controlPlane: string;
	/** The key of the environment to follow. */
	readonly apiKey: string;
	readonly log: EventLog;
	readonly pace?: Pace;
	/** How long the control plane may hold a request, in seconds. */
	readonly wait?: number;
	/** The feed to follow instead of the control plane over HTTP. */
	readonly feed?: FeedClient;
	/** Verifies bundles before anything in them is read; none are verified, unless given. */
	readonly verify?: VerifyBundle | undefined;
	/** Runs long work; a new one, unless given. */
	readonly scheduler?: SliceScheduler;
	/** The readers of what is held; a new set, unless given. */
	readonly leases?: Leases;
	/** Wraps the application of each bundle. Without it, bundles are applied directly. */
	readonly applying?: ApplyBundle;
	/** Lineages that are known to have ended. */
	readonly ended?: Iterable<string>;
}

/** What answers, and the revision of the environment that it answers from. */
export interface LoadedRevision {
	readonly engine: DecidingEngine;
	readonly facts: FactsIndex;
	/** The lineage of the revision; empty where the control plane does not name it. */
	readonly lineage: string;
	readonly revision: number;
	/** The random token of the revision; empty where the control plane does not name it. */
	readonly token: string;
	/** The newest revision whose policy is in force here: `revision`, unless its policy is still awaited. */
	readonly policyRevision: number;
	/** Why the policy in force is not the newest schema's, complete; `null` when it is. */
	readonly degraded: Degradation | null;
}

/** What patches are applied to. */
interface Base extends EngineAndIndex {
	/** Whether checks are answered from it. */
	readonly used: boolean;
}

interface Holding extends LoadedRevision, EngineAndIndex {
	readonly engine: Engine;
	readonly environment: string;
	/** The refresh that was taken last; `null` before the first. */
	readonly updateId: string | null;
	/** The feed's ETag of this revision; `undefined` asks for a snapshot. */
	readonly etag: string | undefined;
}

const defaultPace: Pace = { first: 50, longest: 5_000, refused: 5_000 };
/** How long between two times that everything is fetched anew, in milliseconds. */
const refetchPause = 10_000;
/** A server that answers "unchanged" sooner than this did not wait, so the client waits this long, in milliseconds. */
const minWait = 100;
/**
 * How many bytes of patches are applied without a pause: about a thousand patches, which take a few milliseconds. More
 * are applied in slices, to a copy.
 */
const maxAtOnce = 128 * 1024;

/**
 * One environment's data and policy, kept up to date from `start` to `stop`. INVARIANT: the revision never goes back
 * within a lineage, no lineage comes back that has ended, and a bundle is applied whole or not at all.
 */
export class Replica implements Progress {
	/** Told the new revision whenever answers begin to come from it. */
	readonly revisions = new Listeners<number>();
	/** Told the state when there is a new problem. */
	readonly troubles = new Listeners<ReplicaState>();
	/** Told whenever the state or the revision may have changed. */
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
	/** Runs everything that takes long: answers, and what the feed sends. */
	readonly scheduler: SliceScheduler;
	/** The readers that read over several turns of the event loop. */
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
	 * A loaded snapshot that is not used yet: the feed is asked once more first, because snapshots may be older than
	 * what is held.
	 */
	#next: Holding | undefined;
	/** What is answered from once the environment was deleted. */
	#deleted: LoadedRevision | undefined;
	/** Lineages that have ended: those that were left, and those that bundles name. */
	readonly #ended: Set<string>;
	/** The lineage and the revision that were held last, also after they were dropped. */
	#last: Pick<Holding, 'lineage' | 'revision'> | undefined;
	#left: LeftLineage | undefined;
	#lineageChanges = 0;
	#failures = 0;
	/** When the feed last answered, on the monotonic clock, and how old its answer was then, in milliseconds. */
	#answered: { readonly at: number; readonly age: number } | undefined;
	/** A revision of the feed that is newer than the one in use, and since when such a revision has been known. */
	#ahead: { readonly revision: number; readonly since: number } | undefined;
	/** Aborts the request that waits for news, so that everything is fetched anew. */
	#interrupt = new AbortController();
	/** Whether the next request asks for a snapshot, whatever is held. */
	#anew = false;
	/** When everything may be fetched anew again, by `performance.now`. */
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

	/** Starts following the feed. */
	start(): void {
		this.#following ??= this.#follow();
	}

	/** Stops following; resolves when no work is running. What is held stays in use. */
	async stop(): Promise<void> {
		this.#stopping.abort();
		clearTimeout(this.#refetching);
		this.#degradation.note(undefined);
		await this.#following;
	}

	/** The state of the replica. */
	get state(): ReplicaState {
		return this.#state;
	}

	/**
	 * The revision in use; `undefined` before the first complete one and after a refusal. After the environment was
	 * deleted, its last revision as far as it is known, without anything in it.
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

	/** The refresh that was taken last; `null` before the first. */
	get updateId(): string | null {
		return this.#held?.updateId ?? null;
	}

	/** As in `Progress`. */
	get policyRevision(): number {
		return this.current()?.policyRevision ?? -1;
	}

	/** The lineages that are known to have ended. */
	get ended(): readonly string[] {
		return [...this.#ended];
	}

	/** The lineage that was left last. */
	get left(): LeftLineage | undefined {
		return this.#left;
	}

	/** The number of times that a lineage was left. */
	get lineageChanges(): number {
		return this.#lineageChanges;
	}

	/** How long ago it was last known that there is nothing newer, in milliseconds; 0 before anything is known. */
	get dataAge(): number {
		return this.#answered === undefined ? 0 : this.#answered.age + performance.now() - this.#answered.at;
	}

	/** The memory of the engine in use, in bytes: that of its data, and the whole. Zero without an engine. */
	get memory(): { readonly heapBytes: number; readonly memoryBytes: number } {
		const { heapBytes = 0, memoryBytes = 0 } = this.#held?.engine ?? {};
		return { heapBytes, memoryBytes };
	}

	/** How far the revision in use is behind the newest known one of the feed: in revisions, and for how many milliseconds. */
	get behind(): { readonly revisions: number; readonly milliseconds: number } {
		const [ahead, revision] = [this.#ahead, this.revision];
		if (ahead === undefined || ahead.revision <= revision) return { revisions: 0, milliseconds: 0 };
		const revisions = ahead.revision - Math.max(revision, 0);
		return { revisions, milliseconds: performance.now() - ahead.since };
	}

	/**
	 * Fetches everything anew, soon: now, or when the last time was long enough ago. What is held answers until then.
	 * Calls in between count as one.
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

	/** As in `Progress`. It also resolves when the environment is deleted. */
	reached(wanted: WantedRevision, signal?: AbortSignal): Promise<void> {
		return this.#until(() => isPast(this, wanted), wanted, signal);
	}

	/** As `reached`, for the policy of the revision. */
	policyReached(wanted: WantedRevision, signal?: AbortSignal): Promise<void> {
		return this.#until(() => isPast({ lineage: this.lineage, revision: this.policyRevision }, wanted), wanted, signal);
	}

	/**
	 * Resolves once this is as far as others are. Another lineage than theirs is a newer one, because none that has ended
	 * is taken.
	 */
	async caughtUp({ lineage, revision, policyRevision }: Pick<Progress, 'lineage' | 'revision' | 'policyRevision'>) {
		if (lineage === '') return;
		const isCaughtUp = () =>
			this.lineage === lineage
				? this.revision >= revision && this.policyRevision >= policyRevision
				: this.current() !== undefined;
		await this.#until(isCaughtUp, 0, undefined);
	}

	/** Whether a lineage is known to have ended. */
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

	/** Runs a step with a signal that `stop` and `refetch` abort. */
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

	/** Polls the feed once and applies its answer. Returns how long to pause, in milliseconds. */
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
		// What could not be applied says that there is something newer, not that there is nothing.
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

	/** Notes the newest revision of the feed, and since when one newer than that in use has been known. */
	#noteAhead(revision = Number.NEGATIVE_INFINITY): void {
		if (revision <= this.revision) return;
		const { since } = this.behind.revisions > 0 && this.#ahead ? this.#ahead : { since: performance.now() };
		this.#ahead = { revision, since };
	}

	/** Makes the next request one for a snapshot. */
	#forgetSteps(): void {
		this.#anew = false;
		this.#next = undefined;
		if (this.#held !== undefined) this.#held = { ...this.#held, etag: undefined };
	}

	/** Applies a bundle. A snapshot is prepared; a step continues what is prepared, or else what is held. */
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
			// No `await` from here to the new revision: nobody may get answers of one revision under the number of
			// another.
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
			// Do not ask for the same step again: without an ETag the feed sends a snapshot.
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

	/** Notes the lineage of a revision that comes into use, and the one that is left for it. */
	#noteLineage({ lineage, revision }: Holding): void {
		const last = this.#last;
		this.#last = { lineage, revision };
		if (last === undefined || last.lineage === lineage) return;
		this.#ended.add(last.lineage);
		this.#ahead = undefined;
		// An API of an earlier version named no lineage.
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

	/** Puts what was prepared into use, since the feed had nothing newer a moment ago. */
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
		// Somebody may have sent an old step again: applied to newer data, it would give a state that never was.
		if (kind !== 'snapshot' && base !== undefined && Number(revision) < base.revision) {
			throw new BundleError(`the feed sent a ${kind} to revision ${revision}; revision ${base.revision} is held`);
		}
		this.#refuseEnded(lineage);
		// A snapshot that was requested without an ETag may be old. The next answer catches up.
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
	 * The engine and the index to apply a bundle's patches to. They are copies when the originals are being read over
	 * several turns or would be changed for too long, and with a new policy: then the originals stay in use.
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

	/** Applies patches to what nobody uses yet. */
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

	/** Records a failure. Returns how long to pause, in milliseconds. */
	#failed(error: unknown): number {
		const detail = errorMessage(error);
		this.#next = undefined;
		this.#failures += 1;
		if (error instanceof Refusal) {
			this.#environment = undefined;
			// A control plane that has forgotten the environment since, and only refuses the key, brings nothing back.
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
		// One line for each new problem, not for each attempt.
		const isNew = this.#state.kind !== kind || this.#state.detail !== detail;
		if (isNew) this.#log.warn({ state: kind }, detail);
		this.#state = { kind, detail, untrusted };
		if (isNew) this.troubles.tell(this.#state);
	}
}

/** Whether a change is large enough to be made in a copy. */
function isLarge(files: ReadonlyMap<string, Uint8Array>): boolean {
	return (files.get('patch.json')?.byteLength ?? 0) > maxAtOnce;
}

/** About how long it takes to copy an engine: a millisecond for each MiB. */
function copyingTime({ heapBytes }: Engine): number {
	return heapBytes / 1024 ** 2;
}

/** A random time between half of it and all of it, so that decision points do not all come back at the same moment. */
function jittered(milliseconds: number): number {
	return milliseconds * (0.5 + Math.random() / 2);
}
