import { Permit } from 'permitio';
import type { Stack } from './stack.js';

/** Returns the Node SDK for a stack, with its environment's key. */
export async function connect(stack: Stack) {
	const { keys, api, decisionPoint } = stack;
	const sdk = new Permit({
		token: keys.environment,
		apiUrl: api.listening.url,
		pdp: decisionPoint.listening.url,
		log: { level: 'silent' },
	});
	const { id } = await sdk.api.environments.get('default', 'dev');
	return {
		sdk,
		api: sdk.api,
		/** Waits until the decision point has received all writes. */
		newest: async () => stack.reached((await api.store.counters(id))?.revision),
	};
}
