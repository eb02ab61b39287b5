import test, { type ExecutionContext } from 'ava';
import { type Management, newPlace, type Place, startManagement } from './management.js';
import type { StoreKind } from './postgres.js';
import { type Stack, startStack } from './stack.js';

/**
 * What runs on which store (docs/decisions/0030). A file of tests is run on a server's store. What it has for the
 * embedded one runs in the few processes that call `holdEmbedded` before they import such files, and start one embedded
 * database for all of them. `npm run test:all` runs everything in every file on both.
 */

/** Both stores: PostgreSQL in the process, and on a server. */
const stores = ['embedded', 'server'] as const satisfies readonly StoreKind[];

/** Whether everything runs on both stores: `npm run test:all`. */
export const onAllStores = process.env['TEST_STORES'] === 'all';
let kindsHere: readonly StoreKind[] = onAllStores ? stores : ['server'];
let embeddedHere = false;

/**
 * What declares a test here. Tests of the embedded store of one process follow each other: it has one connection, and
 * ninety that wait for it at once wait longer than a request may.
 */
function chooseDeclare(declare: Declare): Declare {
	return embeddedHere ? test.serial : declare;
}

/** From here on, files of tests declare in this process what they have for the embedded store, and nothing else. */
export function holdEmbedded(): void {
	embeddedHere = true;
	kindsHere = ['embedded'];
}

/** The stores that this process runs its tests on. */
export function chosenStores(): readonly StoreKind[] {
	return kindsHere;
}

/** A test of a management API, in an environment of its own. */
export type Journey = (t: ExecutionContext, place: Place, management: Management) => Promise<void>;

/** What declares a test: `test` or `test.serial`. */
type Declare = (title: string, implementation: (t: ExecutionContext) => Promise<void>) => void;

/** How a file's tests are declared. */
export interface Extent {
	/** `test.serial` instead of `test`, where tests must not run side by side. */
	readonly declare?: Declare;
	/**
	 * What of the file runs on the embedded store on every push: all, or the first that a store sees, on a database that
	 * other files use too; or all on a database of its own, for what looks at a database as a whole.
	 */
	readonly embedded?: 'all' | 'first' | 'alone';
}

/** The management APIs of this process, each shared by all files in it. */
const running = new Map<StoreKind, { management: Promise<Management>; users: number }>();

function enter(kind: StoreKind): Promise<Management> {
	const entry = running.get(kind) ?? { management: startManagement(kind), users: 0 };
	running.set(kind, entry);
	entry.users += 1;
	return entry.management;
}

async function leave(kind: StoreKind): Promise<void> {
	const entry = running.get(kind);
	if (entry === undefined) return;
	entry.users -= 1;
	if (entry.users === 0) await (await entry.management).stop();
}

/**
 * Starts a management API on each store for the tests of one file, and returns what declares a test that runs on both,
 * or only on those named, for what never gets as far as a store.
 * The tests of a file run side by side, unless `declare` is `test.serial`, each in an environment of its own.
 */
export function onEachStore({
	declare = test,
	embedded = 'first',
}: Extent = {}): (title: string, journey: Journey, kinds?: readonly StoreKind[]) => void {
	const entered = new Map<StoreKind, Management>();
	const kindsOfFile = embedded === 'alone' ? stores : kindsHere;
	for (const kind of kindsOfFile) {
		test.before(`start the ${kind} store`, async () => {
			entered.set(kind, await enter(kind));
		});
		test.after.always('stop', () => leave(kind));
	}
	const declareHere = chooseDeclare(declare);
	let declared = 0;
	return (title, journey, kinds = stores) => {
		for (const kind of kinds.filter((one) => kindsOfFile.includes(one))) {
			if (embeddedHere && embedded === 'first' && declared > 0) continue;
			declared += 1;
			declareHere(`${title} [${kind}]`, async (t: ExecutionContext) => {
				const management = entered.get(kind);
				if (management === undefined) throw new Error(`the ${kind} store did not start`);
				await journey(t, await newPlace(management, management.project), management);
			});
		}
	};
}

/** A test of an API with a decision point, of which nobody else knows. */
export type StackJourney = (t: ExecutionContext, stack: Stack, kind: StoreKind) => Promise<void>;

/** Declares a test on a stack of its own, on each store; on every push on the embedded one only where `embedded` is `all`. */
export function onEachStack(title: string, journey: StackJourney, extent: Extent = {}): void {
	const { declare = test, embedded = 'first' } = extent;
	const declareHere = chooseDeclare(declare);
	for (const kind of embeddedHere && embedded !== 'all' ? [] : kindsHere) {
		declareHere(`${title} [${kind}]`, async (t: ExecutionContext) => {
			const stack = await startStack(kind);
			t.teardown(stack.stop);
			await journey(t, stack, kind);
		});
	}
}

/** Declares a test that stands on both stores at once: it runs where the embedded one does. */
export function acrossStores(title: string, implementation: Parameters<Declare>[1], declare: Declare = test): void {
	if (kindsHere.includes('embedded')) chooseDeclare(declare)(title, implementation);
}
