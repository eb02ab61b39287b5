import test, { type ExecutionContext } from 'ava';
import { type Management, newPlace, type Place, startManagement } from './management.js';
import type { StoreKind } from './stack.js';

/** Both stores: PostgreSQL in the process, and on a server. */
export const stores = ['embedded', 'server'] as const satisfies readonly StoreKind[];

/** A test of a management API, in an environment of its own. */
export type Journey = (t: ExecutionContext, place: Place, management: Management) => Promise<void>;

/** What declares a test: `test` or `test.serial`. */
type Declare = (title: string, implementation: (t: ExecutionContext) => Promise<void>) => void;

/**
 * Starts a management API on each store for the tests of one file, and returns what declares a test that runs on both,
 * or only on those named, for what never gets as far as a store.
 * The tests of a file run side by side, unless `declare` is `test.serial`, each in an environment of its own.
 */
export function onEachStore(
	declare: Declare = test,
): (title: string, journey: Journey, kinds?: readonly StoreKind[]) => void {
	const running = new Map<StoreKind, Management>();
	for (const kind of stores) {
		test.before(`start the ${kind} store`, async () => {
			running.set(kind, await startManagement(kind));
		});
	}
	test.after.always('stop', async () => {
		for (const management of running.values()) await management.stop();
	});
	return (title, journey, kinds = stores) => {
		for (const kind of kinds) {
			declare(`${title} [${kind}]`, async (t) => {
				const management = running.get(kind);
				if (management === undefined) throw new Error(`the ${kind} store did not start`);
				await journey(t, await newPlace(management, management.project), management);
			});
		}
	};
}
