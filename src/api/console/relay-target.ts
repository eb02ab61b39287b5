/** Decision points for console sessions, and the calls to them. */

/** Environment to query. */
export interface RelayPlace {
	readonly environment_id: string;
	readonly environment_key: string;
	readonly project_key: string;
}

/** Decision point URL and key. */
export interface RelayTarget {
	/** URL without a trailing slash. */
	readonly url: string;
	/** API key for the decision point; `null` for the environment's own decision point key. */
	readonly secret: string | null;
}

/** Finds the decision point for an environment; `null` if none is known. */
export type FindRelayTarget = (place: RelayPlace) => RelayTarget | null;

/** Decision point in this process. */
export interface OwnDecisionPoint {
	readonly url: string;
	readonly secret: string;
	/** Id of its environment; `null` for an environment in a different API. */
	readonly environment_id: string | null;
}

/** A call to a decision point. */
export interface RelayCall {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Uint8Array | null;
	/** Aborts when the page closes the connection. */
	readonly signal: AbortSignal;
}

/** Decision point response. */
export interface RelayAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
	readonly text: string;
}

/** Sends a call and reads the response. Rejects if the response is missing, too long or too late. */
export type Relay = (call: RelayCall) => Promise<RelayAnswer>;

/** Keys that can be used in a URL unescaped. All stored keys should match, but the lookup does not rely on this. */
const plainKey = /^[A-Za-z0-9_-]+$/;

/**
 * Returns a function to find the decision point for an environment. If the operator sets a URL template,
 * `{project}` and `{environment}` in it are replaced by keys. Otherwise the function returns the decision point in this
 * process, once it runs.
 */
export function findRelayTarget(template: string | null, own: () => OwnDecisionPoint | null): FindRelayTarget {
	return ({ environment_id, environment_key, project_key }) => {
		if (template === null) {
			const running = own();
			return running?.environment_id === environment_id ? running : null;
		}
		if (!plainKey.test(project_key) || !plainKey.test(environment_key)) return null;
		const url = template.replaceAll('{project}', project_key).replaceAll('{environment}', environment_key);
		return { url, secret: null };
	};
}
