import { Durations, histogram } from './durations.js';
import { counter, type MetricFamilies, sample } from './metric-family.js';

interface EndpointTally {
	readonly durations: Durations;
	readonly statuses: Map<number, number>;
}

/** Name for requests without an endpoint. */
const noEndpoint = 'none';

/** Counts a server's requests by endpoint name and status. */
export class RequestTally {
	readonly #endpoints = new Map<string, EndpointTally>();

	/** `server` is the server name in labels. */
	constructor(private readonly server: 'api' | 'pdp' | 'opa') {}

	/** Counts a completed request with its duration in seconds. */
	add(endpoint: string | undefined, status: number, seconds: number): void {
		const name = endpoint ?? noEndpoint;
		const tally = this.#endpoints.get(name) ?? this.#begin(name);
		tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
		tally.durations.add(seconds);
	}

	/** Returns the counts as metrics. Omits endpoints without requests. */
	families(): MetricFamilies {
		const { server } = this;
		const tallies = [...this.#endpoints];
		return [
			counter(
				'regolith_http_requests_total',
				'Requests served',
				tallies.flatMap(([endpoint, { statuses }]) =>
					[...statuses].map(([status, count]) => sample(count, { server, endpoint, status })),
				),
			),
			histogram(
				'regolith_http_request_duration_seconds',
				'Seconds from request headers to response',
				tallies.map(([endpoint, { durations }]) => [{ server, endpoint }, durations] as const),
			),
		];
	}

	#begin(endpoint: string): EndpointTally {
		const tally = { durations: new Durations(), statuses: new Map<number, number>() };
		this.#endpoints.set(endpoint, tally);
		return tally;
	}
}
