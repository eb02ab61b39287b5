/** Where the decision points are that sessions of the console may ask, and how these are asked. */

/** The environment that is asked about. */
export interface RelayPlace {
	readonly environment_id: string;
	readonly environment_key: string;
	readonly project_key: string;
}

/** Where a decision point is. */
export interface RelayTarget {
	/** Without a slash at its end. */
	readonly url: string;
	/** The API key that it takes; `null` where that is the environment's key for decision points. */
	readonly secret: string | null;
}

/** The decision point of an environment; `null` where there is none that is known. */
export type FindRelayTarget = (place: RelayPlace) => RelayTarget | null;

/** A decision point that runs in this process. */
export interface OwnDecisionPoint {
	readonly url: string;
	readonly secret: string;
	/** The environment that it decides for; `null` where that is one of another API. */
	readonly environment_id: string | null;
}

/** A call to a decision point. */
export interface RelayCall {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Uint8Array | null;
	/** Aborts when the page has gone away. */
	readonly signal: AbortSignal;
}

/** What it answered. */
export interface RelayAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
	readonly text: string;
}

/** Sends a call and reads the answer. Rejects where there is none, or it is too long or too late. */
export type Relay = (call: RelayCall) => Promise<RelayAnswer>;

/** Keys that mean nothing in an address but themselves. All keys are such, but an address is not built on that. */
const plainKey = /^[A-Za-z0-9_-]+$/;

/**
 * What finds decision points: by an address with `{project}` and `{environment}` in place of their keys, where the
 * operator has set one, and else the one of this process, once it runs.
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
