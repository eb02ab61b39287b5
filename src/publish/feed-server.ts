import { type Patch, patchDocument } from '../../compiler/index.js';
import { type BundleFile, manifest, manifestFile } from '../bundle/bundle.js';
import { Failure } from '../failure.js';
import type { Refresh } from '../store/account/caller.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { Store } from '../store/store.js';
import type { BundlePacker } from './bundle-packer.js';
import type { Flavour } from './flavour.js';
import type { LiveHead } from './head.js';
import { manifestParts } from './manifest-parts.js';
import type { Publisher } from './publisher.js';
import type { Snapshots } from './snapshots.js';
import type { ClientState } from './state-name.js';
import { stepSince } from './step-since.js';
import type { DataState } from './try-change.js';

/** Maximum age in revisions of a stored snapshot for a new client. The client then requests the later changes. */
const maxRevisions = 1_000;
/** Maximum number of cached steps, which decision points at the same revision share. */
const maxDeltas = 200;
/**
 * Maximum number of waiting requests per environment and process. Each waiting request polls the database, and one
 * environment must not delay all others.
 */
const maxHeld = 1_000;
/**
 * Time in milliseconds between polls by a waiting request. Polling is necessary because a notification from a different
 * process may get lost.
 */
const pollInterval = 2_000;

/** Query from a decision point. */
export interface FeedQuery {
	readonly environment: string;
	readonly flavour: Flavour;
	/** State that the decision point already has; `null` to request a snapshot. */
	readonly held: ClientState | null;
	/** Supported bundle kinds in addition to snapshots. */
	readonly modes: ReadonlySet<string>;
	/** Maximum time in milliseconds to wait for a new state. */
	readonly wait: number;
	/** Aborts when the client disconnects. */
	readonly closed: AbortSignal;
	/** Id of the calling API key. */
	readonly key: string;
	/** Id of the last refresh that the decision point has completed. */
	readonly refreshed: string | null;
	/** Newest refresh requested for the key. */
	readonly refresh: Refresh | null;
	/** Reads the newest refresh again after every wait. Rejects if the key is rejected. */
	readonly authorize: () => Promise<Refresh | null>;
}

/** Bundle that leads to a new state; `bytes` is `null` if there is no new state. */
export interface FeedAnswer extends DataState {
	readonly bytes: Uint8Array | null;
	/** Trace in which the step was built, as W3C `traceparent`. */
	readonly traceparent?: string | undefined;
}

/** Response with the refresh id that it fulfills. */
export interface RefreshedAnswer extends FeedAnswer {
	readonly refresh: string | null;
}

/** Step between two environment revisions. */
export interface MadeStep {
	readonly environment: string;
	readonly from: number;
	readonly to: number;
}

/** Traces `make`, which builds a step. Resolves to the step and to the trace as W3C `traceparent`. */
export type TraceStep = <T>(
	step: MadeStep,
	make: () => Promise<T>,
) => Promise<{ readonly made: T; readonly traceparent?: string }>;

/**
 * Step, or the reason why there is none. `snapshot`: send a snapshot instead. `moved`: the environment has changed, so
 * start again. `cut`: check whether revisions were lost.
 */
type Step = FeedAnswer | 'snapshot' | 'moved' | 'cut';

/**
 * Sends decision points a snapshot, a step from their state, or no bundle if nothing is new. Keeps no state per
 * decision point.
 */
export class FeedServer {
	readonly #deltas = new Map<string, Promise<Step>>();
	readonly #stopping = new AbortController();
	/** Waiting requests by environment. */
	readonly #waiting = new Map<string, number>();

	constructor(
		private readonly store: Store,
		private readonly policies: PolicyStore,
		private readonly publisher: Publisher,
		private readonly snapshots: Snapshots,
		private readonly packer: BundlePacker,
		/** Traces the building of each step. By default, steps are not traced. */
		private readonly traceStep: TraceStep | undefined = undefined,
		private readonly maxHeldOfEnvironment = maxHeld,
	) {}

	/** Number of decision point requests that wait for a new revision in this process. */
	get waiting(): number {
		return [...this.#waiting.values()].reduce((sum, count) => sum + count, 0);
	}

	/** Ends every wait immediately. */
	stop(): void {
		this.#stopping.abort();
	}

	/**
	 * Returns the step from the client's state to the newest state. Waits for a new state if there is none yet. Throws
	 * errors from `authorize` if the key is revoked while waiting, `not_found` if the environment was deleted, and
	 * `unavailable` if no policy has compiled yet.
	 */
	async next(query: FeedQuery): Promise<RefreshedAnswer> {
		const deadline = performance.now() + query.wait;
		for (let { refresh } = query; ; ) {
			const news = this.#news(query);
			try {
				const head = await this.#head(query.environment);
				const over = query.closed.aborted || this.#stopping.signal.aborted;
				if (over && query.held !== null) return { ...head, ...query.held, refresh: query.refreshed, bytes: null };
				const answer = await this.#answer(query, head, refresh);
				if (answer === 'moved') continue;
				const left = deadline - performance.now();
				const isLast = left <= 0 || over || this.#waitingOf(query.environment) >= this.maxHeldOfEnvironment;
				if (answer.bytes !== null || isLast) return { ...answer, refresh: refresh?.id ?? null };
				this.#countWaiting(query.environment, 1);
				await news.within(Math.min(left, pollInterval)).finally(() => this.#countWaiting(query.environment, -1));
				refresh = await query.authorize();
			} finally {
				news.cancel();
			}
		}
	}

	#waitingOf(environment: string): number {
		return this.#waiting.get(environment) ?? 0;
	}

	#countWaiting(environment: string, change: 1 | -1): void {
		const count = this.#waitingOf(environment) + change;
		if (count === 0) this.#waiting.delete(environment);
		else this.#waiting.set(environment, count);
	}

	async #head(environment: string): Promise<LiveHead> {
		try {
			const { digest, ...head } = await this.publisher.head(environment);
			if (digest !== null) return { ...head, digest };
			const why = head.failure?.message ?? 'nothing has been compiled yet';
			throw new Failure('unavailable', `the environment has no policy yet: ${why}`, head.failure);
		} catch (error) {
			if (error instanceof Failure && error.code === 'not_found') await this.snapshots.forget(environment);
			throw error;
		}
	}

	async #answer(query: FeedQuery, head: LiveHead, refresh: Refresh | null): Promise<FeedAnswer | 'moved'> {
		const { held, environment, flavour } = query;
		if (held === null) {
			// Our decision points apply all later changes before they serve checks, so an older snapshot is acceptable. A
			// stock OPA serves queries from its first bundle.
			const catchesUp = flavour === 'wasm' && query.modes.has('delta');
			const fresh = Math.min(refresh?.revision ?? 0, head.revision);
			const oldest = catchesUp ? Math.max(head.revision - maxRevisions, fresh) : head.revision;
			return this.snapshots.get(environment, flavour, head, oldest);
		}
		const snapshot = () => this.snapshots.get(environment, flavour, head, head.revision);
		if (held.lineage !== head.lineage) return snapshot();
		const isCut = held.revision === head.revision ? held.token !== head.token : held.revision > head.revision;
		if (isCut) return (await this.#endLineage(environment, held)) ? 'moved' : snapshot();
		// A refresh creates a revision, so stored snapshots from before the refresh are too old.
		if ((refresh?.id ?? null) !== query.refreshed) return snapshot();
		const policy = !head.digest.startsWith(held.digest);
		if (held.revision === head.revision && held.pending === head.pending && !policy) return { ...head, bytes: null };
		if (!query.modes.has('delta') || (policy && !query.modes.has('policy'))) return snapshot();
		const step = await this.#step(query, held, policy ? 'policy' : 'delta', head);
		if (step === 'cut') return (await this.#endLineage(environment, held)) ? 'moved' : snapshot();
		return step === 'snapshot' ? snapshot() : step;
	}

	/**
	 * Ends the lineage if this server issued the client's state, but the database no longer contains it. Returns true if
	 * the lineage was ended.
	 */
	async #endLineage(environment: string, { verified, lineage, revision, token }: ClientState): Promise<boolean> {
		// Ignore unverified states: anyone with a read key can invent them.
		if (!verified || (await this.store.tokenAt(environment, revision)) === token) return false;
		return this.store.endLineage(lineage, environment, revision);
	}

	/** Returns the step from the client's state to the head. Steps are cached for other clients with the same state. */
	async #step(query: FeedQuery, base: ClientState, kind: 'policy' | 'delta', head: LiveHead): Promise<Step> {
		const ends = [
			base.revision,
			base.token,
			base.pending,
			head.lineage,
			head.revision,
			head.token,
			head.pending,
			head.digest,
		];
		const name = [query.environment, query.flavour, ...ends, kind].join('/');
		const known = this.#deltas.get(name);
		if (known !== undefined) return known;
		const building = this.#traced(query, base, head, () => this.#build(query, base, kind, head));
		this.#deltas.set(name, building);
		for (const oldest of this.#deltas.keys()) {
			if (this.#deltas.size <= maxDeltas) break;
			this.#deltas.delete(oldest);
		}
		// Cache only steps: forget alternatives, which are strings, and failures.
		const forget = () => this.#deltas.delete(name);
		building.then((step) => typeof step === 'string' && forget(), forget);
		return building;
	}

	async #traced(query: FeedQuery, base: ClientState, head: LiveHead, make: () => Promise<Step>): Promise<Step> {
		if (this.traceStep === undefined) return make();
		const step = { environment: query.environment, from: base.revision, to: head.revision };
		const { made, traceparent } = await this.traceStep(step, make);
		return typeof made === 'string' ? made : { ...made, traceparent };
	}

	async #build(
		{ environment, flavour }: FeedQuery,
		base: ClientState,
		kind: 'policy' | 'delta',
		seen: LiveHead,
	): Promise<Step> {
		const built = await this.store.snapshot(environment, async (unit, _, counters) => {
			const step = await stepSince(unit, counters, base, seen);
			if (typeof step === 'string') return step;
			return flavour === 'rego' && !this.#isForOpa(step.patches) ? 'snapshot' : step;
		});
		if (typeof built === 'string') return built;
		const { patches } = built;
		const { lineage, revision, token, pending } = built.head;
		const { digest } = seen;
		// The data for stock OPA has not changed, so there is nothing to send.
		if (flavour === 'rego' && patches.length === 0) return { ...base, digest, bytes: null };
		const step = { kind, base: base.revision };
		const parts = manifestParts(environment, { ...built.head, digest }, step, flavour);
		const patch = Buffer.from(JSON.stringify(patchDocument(patches)));
		const files: BundleFile[] = [manifestFile(manifest(parts)), { path: 'patch.json', bytes: patch }];
		if (kind === 'policy') files.push({ path: 'policy.wasm', bytes: await this.#wasm(digest) });
		return { lineage, revision, token, digest, pending, bytes: await this.packer.pack(files) };
	}

	/**
	 * True if stock OPA can apply these patches: see `patchDocument`. Stock OPA accepts no deltas if bundles are signed.
	 */
	#isForOpa(patches: readonly Patch[]): boolean {
		if (patches.length === 0) return true;
		return this.packer.signedBy === undefined && patches.every(({ op }) => op !== 'remove');
	}

	async #wasm(digest: string): Promise<Uint8Array> {
		const wasm = await this.policies.wasm(digest);
		if (wasm === null) throw new Error(`the policy ${digest} is not stored`);
		return wasm;
	}

	/**
	 * Listens for events after which there may be a new state. `within` resolves on such an event, or after a number of
	 * milliseconds. `store.committed` emits these events: a commit in this process (`Store`) or a different process
	 * (`database/listener.ts`), a new or failed policy (`Publisher`), a rejected key, or a new lineage. Callers also poll
	 * every `pollInterval`.
	 */
	#news({ environment, key, closed }: FeedQuery) {
		let wake = () => {};
		const woken = new Promise<void>((resolve) => {
			wake = resolve;
		});
		const hear = (id: string) => {
			if (id === environment) wake();
		};
		const hearOfKey = (id: string) => {
			if (id === key) wake();
		};
		let timer: NodeJS.Timeout | undefined;
		this.store.committed.on('environment', hear);
		this.store.committed.on('key', hearOfKey);
		this.store.committed.on('lineage', wake);
		closed.addEventListener('abort', wake);
		this.#stopping.signal.addEventListener('abort', wake);
		return {
			within: (milliseconds: number): Promise<void> => {
				timer = setTimeout(wake, milliseconds);
				return woken;
			},
			cancel: (): void => {
				clearTimeout(timer);
				this.store.committed.off('environment', hear);
				this.store.committed.off('key', hearOfKey);
				this.store.committed.off('lineage', wake);
				closed.removeEventListener('abort', wake);
				this.#stopping.signal.removeEventListener('abort', wake);
			},
		};
	}
}
