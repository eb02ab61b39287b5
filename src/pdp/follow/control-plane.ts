/** Finds the facts API for an API key's environment. */

import { z } from 'zod';
import { forbidden } from '../../failure.js';

/**
 * Returns the control plane's base URL for the environment's facts. Rejects with `forbidden` if the key is rejected or
 * does not belong to an environment, and with an `Error` if the control plane sends an unexpected response.
 */
export type FindFacts = (signal: AbortSignal) => Promise<string>;

const Scope = z.object({ environment_id: z.string().nullish(), project_id: z.string().nullish() });
const Refused = z.object({ message: z.string() });

/**
 * Creates a `FindFacts` that looks up the key's environment at a control plane, and caches the result. `origin` is the
 * control plane's URL without a path.
 */
export function findFactsOnce(origin: string, apiKey: string): FindFacts {
	const base = origin.replace(/\/+$/, '');
	// A key's environment never changes.
	let found: string | undefined;
	return async (signal) => {
		if (found !== undefined) return found;
		const headers = { authorization: `Bearer ${apiKey}` };
		const response = await fetch(`${base}/v2/api-key/scope`, { headers, signal });
		if (!response.ok) throw await refusedKey(response);
		const { project_id, environment_id } = Scope.parse(await response.json());
		if (!project_id || !environment_id) throw forbidden('PDP API Key for environment is required.');
		found = `${base}/v2/facts/${project_id}/${environment_id}`;
		return found;
	};
}

/** Returns the error for a control plane response that rejects the decision point's key. */
export async function refusedKey(response: Response): Promise<Error> {
	const { message } = Refused.parse(await response.json());
	if (response.status === 401 || response.status === 403) {
		return forbidden(`the control plane rejected this decision point's key: ${message}`);
	}
	return new Error(message);
}
