import type { FeedBundle, FeedClient, FeedRequest, FeedResponse } from '../pdp/follow/feed-client.js';

/** One request to the feed, and who waits for it. */
interface Flight {
	readonly answer: Promise<FeedResponse>;
	readonly abort: AbortController;
	/** Ends the sharing: the next equal request is sent anew. */
	readonly land: () => void;
	waiting: number;
}

/**
 * A feed that many follow with one request at a time: equal requests share one. Who comes a little later gets the last
 * step again.
 */
export class SharedFeed implements FeedClient {
	readonly #flights = new Map<string, Flight>();
	/** The last step, by what was asked. */
	#last: { readonly asked: string; readonly step: FeedBundle } | undefined;

	constructor(private readonly feed: FeedClient) {}

	environment(signal: AbortSignal): Promise<string> {
		return this.feed.environment(signal);
	}

	poll(request: FeedRequest, signal: AbortSignal): Promise<FeedResponse> {
		const asked = JSON.stringify([request.environment, request.etag]);
		if (this.#last?.asked === asked) return Promise.resolve(this.#last.step);
		const name = JSON.stringify([asked, request.wait]);
		const flight = this.#flights.get(name) ?? this.#start(name, request, asked);
		return join(flight, signal);
	}

	#start(name: string, request: FeedRequest, asked: string): Flight {
		const abort = new AbortController();
		const land = () => {
			if (this.#flights.get(name) === flight) this.#flights.delete(name);
		};
		const answer = this.feed.poll(request, abort.signal).finally(() => land());
		const flight: Flight = { answer, abort, land, waiting: 0 };
		this.#flights.set(name, flight);
		answer.then(
			(response) => {
				// A snapshot is not kept: it may be large, and is needed at a start alone.
				if (response.kind !== 'bundle' || request.etag === undefined) return;
				// A worker that gets the answer later must know how old it is.
				this.#last = { asked, step: { ...response, asOf: response.asOf ?? Date.now() } };
			},
			() => {},
		);
		return flight;
	}
}

/** Waits for the answer; the last who leaves ends the request. */
function join(flight: Flight, signal: AbortSignal): Promise<FeedResponse> {
	flight.waiting += 1;
	return new Promise((resolve, reject) => {
		const leave = () => {
			signal.removeEventListener('abort', abandon);
			flight.waiting -= 1;
			if (flight.waiting > 0) return;
			flight.land();
			flight.abort.abort();
		};
		const abandon = () => {
			leave();
			reject(new Error('nobody waits any more', { cause: signal.reason }));
		};
		signal.addEventListener('abort', abandon);
		if (signal.aborted) return abandon();
		flight.answer.then(resolve, reject).finally(leave);
	});
}
