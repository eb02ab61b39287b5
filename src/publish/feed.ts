import { delta, patchDocument } from '../../compiler/index.js';
import { type BundleFile, manifest, manifestFile, pack } from '../bundle.js';
import { Failure } from '../failure.js';
import { touchedSince } from '../store/change-log.js';
import { neighbourhoodOf } from '../store/neighbourhood.js';
import type { PolicyShelf } from '../store/policy.js';
import type { Store } from '../store/store.js';
import { headIn, type LiveHead } from './head.js';
import { manifestParts } from './manifest-parts.js';
import type { Publisher } from './publisher.js';
import type { Flavour, Snapshots } from './snapshots.js';

/** More changes than this go as a snapshot: it is then the smaller answer, or near it. */
const mostChanges = 20_000;
/** A kept snapshot this many revisions old still serves a newcomer, who then asks for what came after. */
const mostRevisions = 1_000;
/** How many deltas are remembered for other decision points at the same revision. */
const mostDeltas = 200;
/** How often those who wait look for themselves, in milliseconds: a wake-up from another process may get lost. */
const lookEvery = 2_000;

/** What a decision point has already. */
export interface Held {
	readonly revision: number;
	/** The beginning of the digest of the policy that goes with it. */
	readonly digest: string;
	/** As `Head.pending`. */
	readonly pending: string | null;
}

/** What a decision point asks for. */
export interface FeedQuery {
	readonly environment: string;
	readonly flavour: Flavour;
	/** `null` asks for a snapshot. */
	readonly held: Held | null;
	/** The kinds of bundles it understands beside snapshots. */
	readonly modes: ReadonlySet<string>;
	/** How long to wait for news, in milliseconds. */
	readonly wait: number;
	/** Aborts when nobody waits for the answer any more. */
	readonly closed: AbortSignal;
	/** The id of the API key that asks. */
	readonly key: string;
	/** Rejects once that key is refused: asked again after every wait, before there is an answer. */
	readonly authorize: () => Promise<unknown>;
}

/** A bundle that leads to a revision, or none when there is no news. */
export interface FeedAnswer {
	readonly revision: number;
	readonly digest: string;
	/** As `Head.pending`. */
	readonly pending: string | null;
	readonly bytes: Uint8Array | null;
}

/** A step, or what to do instead: answer with a snapshot, or look again because the environment has moved on. */
type Step = FeedAnswer | 'snapshot' | 'moved';

/** Answers decision points: a snapshot, the steps from what they have, or nothing new. Keeps no state of theirs. */
export class Feed {
	readonly #deltas = new Map<string, Promise<Step>>();
	readonly #stopping = new AbortController();

	constructor(
		private readonly store: Store,
		private readonly shelf: PolicyShelf,
		private readonly publisher: Publisher,
		private readonly snapshots: Snapshots,
	) {}

	/** Ends every wait at once. */
	stop(): void {
		this.#stopping.abort();
	}

	/**
	 * The way from what a decision point has to the newest revision, waiting for one if there is none yet. Throws
	 * what `authorize` does when the key is taken back meanwhile, `not_found` when the environment is no more,
	 * `unavailable` while it never had a policy that compiles.
	 */
	async next(query: FeedQuery): Promise<FeedAnswer> {
		const deadline = performance.now() + query.wait;
		for (;;) {
			const news = this.#news(query);
			try {
				const head = await this.#head(query.environment);
				const over = query.closed.aborted || this.#stopping.signal.aborted;
				if (over && query.held !== null) return { ...head, ...query.held, bytes: null };
				const answer = await this.#answer(query, head);
				if (answer === 'moved') continue;
				const left = deadline - performance.now();
				if (answer.bytes !== null || left <= 0 || over) return answer;
				await news.within(Math.min(left, lookEvery));
				await query.authorize();
			} finally {
				news.cancel();
			}
		}
	}

	async #head(environment: string): Promise<LiveHead> {
		try {
			const { digest, ...head } = await this.publisher.head(environment);
			if (digest !== null) return { ...head, digest };
			const why = head.failure?.message ?? 'nothing is compiled yet';
			throw new Failure('unavailable', `the environment has no policy yet: ${why}`, head.failure);
		} catch (error) {
			if (error instanceof Failure && error.code === 'not_found') await this.snapshots.forget(environment);
			throw error;
		}
	}

	async #answer(query: FeedQuery, head: LiveHead): Promise<FeedAnswer | 'moved'> {
		const { held, environment, flavour } = query;
		if (held === null) {
			// Our decision points catch up before they answer; a stock OPA answers from whatever it gets first.
			const catchesUp = flavour === 'wasm' && query.modes.has('delta');
			const oldest = catchesUp ? head.revision - mostRevisions : head.revision;
			return this.snapshots.get(environment, flavour, head, oldest);
		}
		const policy = !head.digest.startsWith(held.digest);
		const same = held.revision === head.revision && held.pending === head.pending;
		if (same && !policy) return { ...head, bytes: null };
		const understood = query.modes.has('delta') && (!policy || query.modes.has('policy'));
		if (!understood || held.revision > head.revision)
			return this.snapshots.get(environment, flavour, head, head.revision);
		const step = await this.#step(query, held, policy ? 'policy' : 'delta', head);
		return step === 'snapshot' ? this.snapshots.get(environment, flavour, head, head.revision) : step;
	}

	/** The step from what is held, remembered for others who are where this one is. */
	async #step(query: FeedQuery, base: Held, kind: 'policy' | 'delta', head: LiveHead): Promise<Step> {
		const ends = [base.revision, base.pending, head.revision, head.pending, head.digest];
		const name = [query.environment, query.flavour, ...ends, kind].join('/');
		const known = this.#deltas.get(name);
		if (known !== undefined) return known;
		const cutting = this.#cut(query, base, kind, head);
		this.#deltas.set(name, cutting);
		for (const oldest of this.#deltas.keys()) {
			if (this.#deltas.size <= mostDeltas) break;
			this.#deltas.delete(oldest);
		}
		// Only an answer stays true; what to do instead is found out anew.
		const forget = () => this.#deltas.delete(name);
		cutting.then((step) => typeof step === 'string' && forget(), forget);
		return cutting;
	}

	async #cut({ environment, flavour }: FeedQuery, base: Held, kind: 'policy' | 'delta', seen: LiveHead): Promise<Step> {
		const cut = await this.store.snapshot(environment, async (unit, counters) => {
			const head = await headIn(unit, counters, seen);
			if (head === null) return 'moved';
			const logged = await touchedSince(unit, base.revision, mostChanges);
			if (logged === null) return 'snapshot';
			const inForce = head.pending === null ? null : await unit.schemaInForce();
			// What is suspended changes without a change in the log: when a policy comes, or is known not to come.
			const moved = base.pending !== head.pending;
			const touched = { ...logged, pending: moved, derivations: moved || logged.derivations };
			const now = await neighbourhoodOf(unit, touched, inForce);
			if (now === null) return 'snapshot';
			const patches = delta(touched, now);
			// What a stock OPA cannot be told in patches: see `patchDocument`.
			if (flavour === 'rego' && patches.some(({ op }) => op === 'remove')) return 'snapshot';
			return { head, patches };
		});
		if (cut === 'moved' || cut === 'snapshot') return cut;
		const { patches } = cut;
		const { revision, pending } = cut.head;
		const { digest } = seen;
		// For a stock OPA, whose data stays the same, that is no news.
		if (flavour === 'rego' && patches.length === 0) return { ...base, digest, bytes: null };
		const step = { kind, base: base.revision };
		const parts = manifestParts(environment, { ...cut.head, digest }, step, flavour);
		const patch = Buffer.from(JSON.stringify(patchDocument(patches)));
		const files: BundleFile[] = [manifestFile(manifest(parts)), { path: 'patch.json', bytes: patch }];
		if (kind === 'policy') files.push({ path: 'policy.wasm', bytes: await this.#wasm(digest) });
		return { revision, digest, pending, bytes: await pack(files) };
	}

	async #wasm(digest: string): Promise<Uint8Array> {
		const wasm = await this.shelf.wasm(digest);
		if (wasm === null) throw new Error(`the policy ${digest} is not on the shelf`);
		return wasm;
	}

	/** Listens from now on for something that may be news; `within` resolves on it or after some milliseconds. */
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
				closed.removeEventListener('abort', wake);
				this.#stopping.signal.removeEventListener('abort', wake);
			},
		};
	}
}
