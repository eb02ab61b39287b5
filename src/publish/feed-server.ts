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

/** How many revisions old a stored snapshot may be for a new client, which then asks for what came after. */
const maxRevisions = 1_000;
/** How many deltas are cached for other decision points at the same revision. */
const maxDeltas = 200;
/** The most requests of one environment that wait at a process: each polls, and none may keep other environments waiting. */
const maxHeld = 1_000;
/** How often waiting requests poll, in milliseconds: a notification from another process may get lost. */
const pollInterval = 2_000;

/** What a decision point asks for. */
export interface FeedQuery {
	readonly environment: string;
	readonly flavour: Flavour;
	/** `null` asks for a snapshot. */
	readonly held: ClientState | null;
	/** The kinds of bundles it understands besides snapshots. */
	readonly modes: ReadonlySet<string>;
	/** How long to wait for news, in milliseconds. */
	readonly wait: number;
	/** Aborts when the client has gone. */
	readonly closed: AbortSignal;
	/** The id of the API key that asks. */
	readonly key: string;
	/** The id of the refresh that the decision point has taken last. */
	readonly refreshed: string | null;
	/** The newest refresh of the key. */
	readonly refresh: Refresh | null;
	/** Reads the newest refresh again. Rejects once the key is refused. Called again after every wait, before an answer. */
	readonly authorize: () => Promise<Refresh | null>;
}

/** A bundle that leads to a revision, or no bytes when there is nothing new. */
export interface FeedAnswer extends DataState {
	readonly bytes: Uint8Array | null;
	/** The trace in which the step was made, as W3C's `traceparent`. */
	readonly traceparent?: string | undefined;
}

/** An answer, and the id of the refresh that a decision point has taken with it. */
export interface RefreshedAnswer extends FeedAnswer {
	readonly refresh: string | null;
}

/** A step from one revision of an environment to another. */
export interface MadeStep {
	readonly environment: string;
	readonly from: number;
	readonly to: number;
}

/** Calls `make`, which makes a step, and traces it. Resolves to the step, and to the trace as W3C's `traceparent`. */
export type TraceStep = <T>(
	step: MadeStep,
	make: () => Promise<T>,
) => Promise<{ readonly made: T; readonly traceparent?: string }>;

/**
 * A step, or what to do instead: send a snapshot, start over because the environment has moved on, or find out whether
 * history was cut.
 */
type Step = FeedAnswer | 'snapshot' | 'moved' | 'cut';

/**
 * Answers decision points with a snapshot, with a step from what they have, or with nothing new. Keeps no state about
 * them.
 */
export class FeedServer {
	readonly #deltas = new Map<string, Promise<Step>>();
	readonly #stopping = new AbortController();
	/** The number of requests that wait, by environment. */
	readonly #waiting = new Map<string, number>();

	constructor(
		private readonly store: Store,
		private readonly policies: PolicyStore,
		private readonly publisher: Publisher,
		private readonly snapshots: Snapshots,
		private readonly packer: BundlePacker,
		/** Wraps the making of each step. Without it, steps are made directly. */
		private readonly traceStep: TraceStep | undefined = undefined,
		private readonly maxHeldOfEnvironment = maxHeld,
	) {}

	/** The number of requests of decision points that wait for a new revision at this process. */
	get waiting(): number {
		return [...this.#waiting.values()].reduce((sum, count) => sum + count, 0);
	}

	/** Ends every wait at once. */
	stop(): void {
		this.#stopping.abort();
	}

	/**
	 * Leads from what a decision point has to the newest revision, waiting for one if there is none yet. Throws what
	 * `authorize` does when the key is revoked meanwhile, `not_found` when the environment is gone, and `unavailable`
	 * while it never had a policy that compiles.
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
			// Our decision points catch up before they answer. A stock OPA answers from whatever it gets first.
			const catchesUp = flavour === 'wasm' && query.modes.has('delta');
			const fresh = Math.min(refresh?.revision ?? 0, head.revision);
			const oldest = catchesUp ? Math.max(head.revision - maxRevisions, fresh) : head.revision;
			return this.snapshots.get(environment, flavour, head, oldest);
		}
		const snapshot = () => this.snapshots.get(environment, flavour, head, head.revision);
		if (held.lineage !== head.lineage) return snapshot();
		const isCut = held.revision === head.revision ? held.token !== head.token : held.revision > head.revision;
		if (isCut) return (await this.#endLineage(environment, held)) ? 'moved' : snapshot();
		// A refresh makes a revision, so no snapshot that was stored before is new enough.
		if ((refresh?.id ?? null) !== query.refreshed) return snapshot();
		const policy = !head.digest.startsWith(held.digest);
		if (held.revision === head.revision && held.pending === head.pending && !policy) return { ...head, bytes: null };
		if (!query.modes.has('delta') || (policy && !query.modes.has('policy'))) return snapshot();
		const step = await this.#step(query, held, policy ? 'policy' : 'delta', head);
		if (step === 'cut') return (await this.#endLineage(environment, held)) ? 'moved' : snapshot();
		return step === 'snapshot' ? snapshot() : step;
	}

	/** Ends the lineage of a state that this server had named, and that is not in it any more. Returns whether it was. */
	async #endLineage(environment: string, { verified, lineage, revision, token }: ClientState): Promise<boolean> {
		// Anybody with a read key can make up a state.
		if (!verified || (await this.store.tokenAt(environment, revision)) === token) return false;
		return this.store.endLineage(lineage, environment, revision);
	}

	/** The step from what is held, cached for others in the same state. */
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
		// Only an answer stays valid; anything else is worked out again.
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
		// The data of a stock OPA stays the same, so this is not news.
		if (flavour === 'rego' && patches.length === 0) return { ...base, digest, bytes: null };
		const step = { kind, base: base.revision };
		const parts = manifestParts(environment, { ...built.head, digest }, step, flavour);
		const patch = Buffer.from(JSON.stringify(patchDocument(patches)));
		const files: BundleFile[] = [manifestFile(manifest(parts)), { path: 'patch.json', bytes: patch }];
		if (kind === 'policy') files.push({ path: 'policy.wasm', bytes: await this.#wasm(digest) });
		return { lineage, revision, token, digest, pending, bytes: await this.packer.pack(files) };
	}

	/** Whether a stock OPA takes these patches: see `patchDocument`. It takes no deltas from who signs bundles. */
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
	 * Listens from now on for possible news. `within` resolves on it or after some milliseconds. A long poll is woken by
	 * `store.committed`: a commit of this process (`Store`) or of another one (`database/listener.ts`), a policy that came
	 * or failed (`Publisher`), a key that is refused from now on, or a new lineage. It also looks by itself every `pollInterval`.
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
