import { createHash } from 'node:crypto';
import type { RegoFile } from '../../compiler/index.js';
import { OpaFailure, OpaLate, runInRego } from '../../compiler/opa/build.js';
import { readTestResults, someFailed, type TestResult, testWords } from '../../compiler/opa/test-results.js';
import { errorMessage, Failure } from '../failure.js';
import { nextTurn } from '../limit/next-turn.js';
import type { Logger } from '../log.js';

/** How the tests of a policy came out. */
export interface TestedPolicy {
	readonly passed: number;
	readonly failed: number;
	/** Whether there are more tests than are listed. */
	readonly truncated: boolean;
	/** Failed ones first, then by name. */
	readonly tests: readonly TestResult[];
}

/** How long all tests of a policy may take, in milliseconds. */
const usualTime = 60_000;
/** How many policies are remembered with their results. */
const maxResults = 32;
/**
 * The most policies that wait for the one under test: of one environment, and of all. Their files are in memory. Each
 * environment has one place of its own, so no environment keeps another out.
 */
const maxWaitingOfEnvironment = 2;
const maxWaiting = 8;
/** How much is kept of why a test could not be decided, in characters. */
const maxErrorLength = 500;
/** After how many files other requests have a turn. */
const slice = 128;

/** What a policy may take. */
export interface TesterLimits {
	/** How many tests are listed. */
	readonly listed: number;
	/** How long all tests of a policy may take, in milliseconds. */
	readonly milliseconds?: number | undefined;
}

interface Asked {
	readonly environment: string;
	readonly result: Promise<TestedPolicy>;
}

/**
 * Tests policies with `opa`, one after the other. Results are remembered by the content of all files: policies of one
 * digest have the same Rego, and may differ in their tables and so in their tests.
 */
export class PolicyTester {
	/** Results by content, in the order in which they were last asked for. */
	readonly #results = new Map<string, TestedPolicy>();
	/** What is tested, and after it what waits, by content. */
	readonly #asked = new Map<string, Asked>();
	readonly #stopped = new AbortController();
	#last: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly opa: string,
		private readonly log: Logger,
		private readonly limits: TesterLimits,
	) {}

	/**
	 * Tests the policy of these files. Whoever asks for the same meanwhile gets the same result. Rejects with `Failure`:
	 * `busy` when too many wait, and `unavailable` when it takes too long, when `opa` fails, and when it is stopped.
	 */
	async test(environment: string, files: readonly RegoFile[]): Promise<TestedPolicy> {
		const content = await contentDigest(files);
		const known = this.#results.get(content);
		if (known !== undefined) {
			this.#remember(content, known);
			return known;
		}
		const same = this.#asked.get(content);
		if (same !== undefined) return same.result;
		this.#requireRoom(environment);
		const result = this.#last
			.then(async () => {
				const tested = await this.#run(files);
				this.#remember(content, tested);
				return tested;
			})
			.finally(() => this.#asked.delete(content));
		this.#asked.set(content, { environment, result });
		this.#last = result.catch(() => undefined);
		return result;
	}

	/** Ends what runs, and refuses what waits; resolves when that is done. */
	async stop(): Promise<void> {
		this.#stopped.abort();
		await this.#last;
	}

	#requireRoom(environment: string): void {
		// The first one runs.
		const [, ...waiting] = this.#asked.values();
		const own = waiting.filter((other) => other.environment === environment).length;
		if (own === 0 || (own < maxWaitingOfEnvironment && waiting.length < maxWaiting)) return;
		throw new Failure('busy', `${waiting.length} policies wait to be tested already: try again in a few seconds`);
	}

	async #run(files: readonly RegoFile[]): Promise<TestedPolicy> {
		const { signal } = this.#stopped;
		const { listed, milliseconds = usualTime } = this.limits;
		if (signal.aborted) throw new Failure('unavailable', 'the server stops');
		try {
			const options = { milliseconds, exitCodes: [0, someFailed], background: true, signal };
			const { stdout } = await runInRego({ opa: this.opa, files }, testWords, options);
			return summarise(readTestResults(stdout), listed);
		} catch (error) {
			if (signal.aborted) throw new Failure('unavailable', 'the server stops');
			if (error instanceof OpaLate) throw tooLong(milliseconds);
			const message = errorMessage(error);
			this.log.error({ reason: message }, 'a policy could not be tested');
			const details = error instanceof OpaFailure ? error.stderr.split('\n').filter((line) => line !== '') : [];
			throw new Failure('unavailable', `the tests cannot be run: ${message}`, { message, details });
		}
	}

	#remember(content: string, tested: TestedPolicy): void {
		this.#results.delete(content);
		this.#results.set(content, tested);
		const [oldest] = this.#results.keys();
		if (this.#results.size > maxResults && oldest !== undefined) this.#results.delete(oldest);
	}
}

function tooLong(milliseconds: number): Failure {
	const message = `the tests take more than ${milliseconds / 1000} s: run them on your machine with \`regolith test\``;
	return new Failure('unavailable', message);
}

function summarise(tests: readonly TestResult[], most: number): TestedPolicy {
	const failed = tests.filter(({ passed }) => !passed).length;
	const listed = [...tests].sort(byImportance).slice(0, most);
	return {
		passed: tests.length - failed,
		failed,
		truncated: tests.length > listed.length,
		tests: listed.map(({ error, ...test }) => ({ ...test, error: error === null ? null : cut(error) })),
	};
}

function byImportance(left: TestResult, right: TestResult): number {
	if (left.passed !== right.passed) return left.passed ? 1 : -1;
	return left.name < right.name ? -1 : left.name === right.name ? 0 : 1;
}

function cut(text: string): string {
	return text.length <= maxErrorLength ? text : `${text.slice(0, maxErrorLength)}…`;
}

/** SHA-256 of all files, in whatever order they are given, hexadecimal. Other requests have turns in between. */
async function contentDigest(files: readonly RegoFile[]): Promise<string> {
	const hash = createHash('sha256');
	const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
	for (const [index, { path, text }] of sorted.entries()) {
		hash.update(JSON.stringify([path, text]));
		if (index % slice === slice - 1) await nextTurn();
	}
	return hash.digest('hex');
}
