import { createHash } from 'node:crypto';
import type { RegoFile } from '../../compiler/index.js';
import { OpaFailure, OpaLate, runInRego } from '../../compiler/opa/build.js';
import { readTestResults, someFailed, type TestResult, testWords } from '../../compiler/opa/test-results.js';
import { errorMessage, Failure } from '../failure.js';
import { nextTurn } from '../limit/next-turn.js';
import type { Logger } from '../log.js';

export interface TestedPolicy {
	readonly passed: number;
	readonly failed: number;
	/** True if there are more tests than listed. */
	readonly truncated: boolean;
	/** Failed tests first, then by name. */
	readonly tests: readonly TestResult[];
}

/** Maximum time in milliseconds for all tests in a policy. */
const usualTime = 60_000;
/** Maximum number of cached results. */
const maxResults = 32;
/**
 * Maximum number of waiting policies, per environment and in total. It is limited because their files are in memory.
 * Each environment has a reserved place in the queue, so no environment can lock out all others.
 */
const maxWaitingOfEnvironment = 2;
const maxWaiting = 8;
/** Maximum length of a test error, in characters. */
const maxErrorLength = 500;
/** Number of files to hash before other requests get a turn. */
const slice = 128;

export interface TesterLimits {
	/** Maximum number of tests listed in a result. */
	readonly listed: number;
	/** Maximum time in milliseconds for all tests in a policy. */
	readonly milliseconds?: number | undefined;
}

interface Asked {
	readonly environment: string;
	readonly result: Promise<TestedPolicy>;
}

/**
 * Tests policies with `opa`, one after the other. The cache identifies results by file contents and not by policy
 * digest: policies with the same digest have the same Rego, but may have different tables and therefore different
 * tests.
 */
export class PolicyTester {
	/** Results keyed by content, least recently used first. */
	readonly #results = new Map<string, TestedPolicy>();
	/** The running test, followed by the waiting tests, keyed by content. */
	readonly #asked = new Map<string, Asked>();
	readonly #stopped = new AbortController();
	#last: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly opa: string,
		private readonly log: Logger,
		private readonly limits: TesterLimits,
	) {}

	/**
	 * Tests the policy in these files. Concurrent requests for the same files share the result. Rejects with `Failure`:
	 * `busy` if too many policies wait, and `unavailable` if the tests take too long, if `opa` fails, or if the tester
	 * is stopped.
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

	/** Ends the running test and rejects the waiting tests. Resolves when the running test has ended. */
	async stop(): Promise<void> {
		this.#stopped.abort();
		await this.#last;
	}

	#requireRoom(environment: string): void {
		// The first test is running, not waiting.
		const [, ...waiting] = this.#asked.values();
		const own = waiting.filter((other) => other.environment === environment).length;
		if (own === 0 || (own < maxWaitingOfEnvironment && waiting.length < maxWaiting)) return;
		throw new Failure('busy', `${waiting.length} policies are already queued for testing: try again in a few seconds`);
	}

	async #run(files: readonly RegoFile[]): Promise<TestedPolicy> {
		const { signal } = this.#stopped;
		const { listed, milliseconds = usualTime } = this.limits;
		if (signal.aborted) throw new Failure('unavailable', 'the server is stopping');
		try {
			const options = { milliseconds, exitCodes: [0, someFailed], background: true, signal };
			const { stdout } = await runInRego({ opa: this.opa, files }, testWords, options);
			return summarise(readTestResults(stdout), listed);
		} catch (error) {
			if (signal.aborted) throw new Failure('unavailable', 'the server is stopping');
			if (error instanceof OpaLate) throw tooLong(milliseconds);
			const message = errorMessage(error);
			this.log.error({ reason: message }, 'a policy could not be tested');
			const details = error instanceof OpaFailure ? error.stderr.split('\n').filter((line) => line !== '') : [];
			throw new Failure('unavailable', `the tests cannot run: ${message}`, { message, details });
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

/**
 * Returns the hexadecimal SHA-256 over all files, regardless of their order. Lets other requests run between the steps.
 */
async function contentDigest(files: readonly RegoFile[]): Promise<string> {
	const hash = createHash('sha256');
	const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
	for (const [index, { path, text }] of sorted.entries()) {
		hash.update(JSON.stringify([path, text]));
		if (index % slice === slice - 1) await nextTurn();
	}
	return hash.digest('hex');
}
