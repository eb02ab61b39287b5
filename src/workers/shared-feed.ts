import type { FeedBundle, FeedClient, FeedRequest, FeedResponse } from '../pdp/follow/feed-client.js';

interface Flight {
	readonly answer: Promise<FeedResponse>;
	readonly abort: AbortController;
	/** Stops sharing this request: the next equal request is sent to the control plane again. */
	readonly land: () => void;
	waiting: number;
}

/**
 * Feed for many followers. Equal requests share a single request to the control plane. A slightly later request gets
 * the last step from a cache.
 */
export class SharedFeed implements FeedClient {
	readonly #flights = new Map<string, Flight>();
	/** Last step, with its request. */
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
				// A snapshot is not cached, because it may be large and only a starting worker needs it.
				if (response.kind !== 'bundle' || request.etag === undefined) return;
				// From `asOf`, a worker that gets the cached response later determines the age of the data.
				this.#last = { asked, step: { ...response, asOf: response.asOf ?? Date.now() } };
			},
			() => {},
		);
		return flight;
	}
}

/** Waits for the response. When the last waiting caller leaves, the request is aborted. */
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
			reject(new Error('no caller is waiting', { cause: signal.reason }));
		};
		signal.addEventListener('abort', abandon);
		if (signal.aborted) return abandon();
		flight.answer.then(resolve, reject).finally(leave);
	});
}
