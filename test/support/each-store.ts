import test, { type ExecutionContext } from 'ava';
import { type Management, newPlace, type Place, startManagement } from './management.js';
import type { StoreKind } from './stack.js';

/** Both stores: PostgreSQL in the process, and on a server. */
export const stores = ['embedded', 'server'] as const satisfies readonly StoreKind[];

/** A test of a management API, in an environment of its own. */
export type Journey = (t: ExecutionContext, place: Place, management: Management) => Promise<void>;

/**
 * Starts a management API on each store for the tests of one file, and returns what declares a test that runs on both.
 * The tests of a file run side by side, each in an environment of its own.
 */
export function onEachStore(): (title: string, journey: Journey) => void {
	const running = new Map<StoreKind, Management>();
	for (const kind of stores) {
		test.before(`start the ${kind} store`, async () => {
			running.set(kind, await startManagement(kind));
		});
	}
	test.after.always('stop', async () => {
		for (const management of running.values()) await management.stop();
	});
	return (title, journey) => {
		for (const kind of stores) {
			test(`${title} [${kind}]`, async (t) => {
				const management = running.get(kind);
				if (management === undefined) throw new Error(`the ${kind} store did not start`);
				await journey(t, await newPlace(management, management.project), management);
			});
		}
	};
}
