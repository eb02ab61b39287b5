import test, { type ExecutionContext } from 'ava';
import { type Management, newPlace, type Place, startManagement } from './management.js';
import type { StoreKind } from './postgres.js';
import { type Stack, startStack } from './stack.js';

/**
 * Selects each test's store (docs/decisions/0030). A test file runs on the server store. The tests for the embedded
 * store run in a few processes, which call `holdEmbedded` before they import the test files. Each of these processes
 * starts one embedded database for all its files. `npm run test:all` runs every file on both stores.
 */

/** Both stores: PostgreSQL embedded in the process, and PostgreSQL on a server. */
const stores = ['embedded', 'server'] as const satisfies readonly StoreKind[];

/** True if all tests run on both stores, as in `npm run test:all`. */
export const onAllStores = process.env['TEST_STORES'] === 'all';
let kindsHere: readonly StoreKind[] = onAllStores ? stores : ['server'];
let embeddedHere = false;

/**
 * Returns the function to declare a test on a store. In a process, tests on the embedded store run one after the other,
 * because the store has a single connection, and ninety waiting tests would exceed the request timeout.
 */
function declareOn(kind: StoreKind, declare: Declare): Declare {
	return kind === 'embedded' ? test.serial : declare;
}

/** Makes later test files in this process declare only their tests for the embedded store. */
export function holdEmbedded(): void {
	embeddedHere = true;
	kindsHere = ['embedded'];
}

/** Returns the stores under test in this process. */
export function chosenStores(): readonly StoreKind[] {
	return kindsHere;
}

/** A management API test with its own environment. */
export type Journey = (t: ExecutionContext, place: Place, management: Management) => Promise<void>;

/** `test` or `test.serial`. */
type Declare = (title: string, implementation: (t: ExecutionContext) => Promise<void>) => void;

/** Options for a file's tests. */
export interface Extent {
	/** `test.serial` instead of `test` if tests must not run concurrently. */
	readonly declare?: Declare;
	/**
	 * Tests that run on the embedded store on every push. `all`: all tests. `first`: only the file's first test, in a
	 * database shared with other files. `alone`: all tests on a separate database, for tests that read a whole database.
	 */
	readonly embedded?: 'all' | 'first' | 'alone';
}

/** Management APIs in this process, which all files share. */
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
 * Starts a management API on each store for the tests in a file. Returns a function to declare a test on both stores,
 * or only on the stores in `kinds`. Each test has its own environment. A file's tests run concurrently, unless
 * `declare` is `test.serial`.
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
	let declared = 0;
	return (title, journey, kinds = stores) => {
		for (const kind of kinds.filter((one) => kindsOfFile.includes(one))) {
			if (embeddedHere && embedded === 'first' && declared > 0) continue;
			declared += 1;
			declareOn(kind, declare)(`${title} [${kind}]`, async (t: ExecutionContext) => {
				const management = entered.get(kind);
				if (management === undefined) throw new Error(`the ${kind} store did not start`);
				await journey(t, await newPlace(management, management.project), management);
			});
		}
	};
}

/** A test with its own API and decision point. */
export type StackJourney = (t: ExecutionContext, stack: Stack, kind: StoreKind) => Promise<void>;

/**
 * Declares a test with its own stack on each store. On every push, the test runs on the embedded store only if
 * `embedded` is `all`.
 */
export function onEachStack(title: string, journey: StackJourney, extent: Extent = {}): void {
	const { declare = test, embedded = 'first' } = extent;
	for (const kind of embeddedHere && embedded !== 'all' ? [] : kindsHere) {
		declareOn(kind, declare)(`${title} [${kind}]`, async (t: ExecutionContext) => {
			const stack = await startStack(kind);
			t.teardown(stack.stop);
			await journey(t, stack, kind);
		});
	}
}

/** Declares a single test that uses both stores. It runs in the processes for the embedded store. */
export function acrossStores(title: string, implementation: Parameters<Declare>[1], declare: Declare = test): void {
	if (kindsHere.includes('embedded')) declareOn('embedded', declare)(title, implementation);
}

/** Starts a stack on each store before the tests of a file, and stops the stacks afterwards. */
export function stackOnEachStore(): (kind: StoreKind) => Stack {
	const stacks = new Map<StoreKind, Stack>();
	for (const kind of chosenStores()) {
		test.before(`start the ${kind} store`, async () => {
			stacks.set(kind, await startStack(kind));
		});
	}
	test.after.always('stop', async () => {
		for (const stack of stacks.values()) await stack.stop();
	});
	return (kind) => {
		const stack = stacks.get(kind);
		if (stack === undefined) throw new Error(`no stack of ${kind}`);
		return stack;
	};
}
