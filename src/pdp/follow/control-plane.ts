/** Where a control plane keeps the facts of the environment that a key belongs to. */

import { z } from 'zod';
import { forbidden } from '../../failure.js';

/**
 * Finds the URL below which the control plane serves the facts of the environment. Rejects with `forbidden` when the key
 * is refused or does not belong to an environment, and with an `Error` when the control plane does not answer as it should.
 */
export type FindFacts = (signal: AbortSignal) => Promise<string>;

const Scope = z.object({ environment_id: z.string().nullish(), project_id: z.string().nullish() });
const Refused = z.object({ message: z.string() });

/** Looks the environment of `apiKey` up at a control plane; `origin` is its URL without a path. */
export function findFactsOnce(origin: string, apiKey: string): FindFacts {
	const base = origin.replace(/\/+$/, '');
	// A key is of the same environment for good.
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

/** Why the control plane does not answer a call with the key of the decision point. */
export async function refusedKey(response: Response): Promise<Error> {
	const { message } = Refused.parse(await response.json());
	if (response.status === 401 || response.status === 403) {
		return forbidden(`the control plane refuses the key of this decision point: ${message}`);
	}
	return new Error(message);
}
