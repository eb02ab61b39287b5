import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { quantile } from './quantile.js';

/** Sends checks at full speed from separate processes, and compares each response with the expected decision. */

const autocannon = createRequire(import.meta.url).resolve('autocannon');
const execute = promisify(execFile);
/** Duration of one load process, in seconds. */
const piece = 30;

const asked = { user: 'alice', action: 'read', resource: { type: 'document', tenant: 'default' } };

interface Report {
	readonly requests: { readonly total: number; readonly average: number };
	/** Milliseconds. */
	readonly latency: { readonly p99: number; readonly max: number };
	readonly non2xx: number;
	readonly errors: number;
	readonly mismatches: number;
}

/** Generates load on a decision point. In its environment, `alice` may read documents. */
export class Saturation {
	readonly #reports: Report[] = [];

	constructor(
		private readonly url: string,
		private readonly key: string,
		private readonly connections: number,
	) {}

	/** Number of completed checks. */
	get answered(): number {
		return this.#reports.reduce((total, { requests }) => total + requests.total, 0);
	}

	/** Runs load processes one after the other while `going` returns true. */
	async run(going: () => boolean): Promise<void> {
		const headers = [`authorization=Bearer ${this.key}`, 'content-type=application/json'].flatMap((each) => [
			'-H',
			each,
		]);
		const body = ['-b', JSON.stringify(asked), '-E', '{"allow":true,"result":true}'];
		const load = ['--json', '-n', '-m', 'POST', '-c', String(this.connections), '-d', String(piece)];
		while (going()) {
			const run = [autocannon, ...load, ...headers, ...body, `${this.url}/allowed`];
			this.#reports.push(JSON.parse((await execute(process.execPath, run)).stdout) as Report);
		}
	}

	/** Prints the rate at the start and at the end, and the number of wrong responses. */
	report(): void {
		const third = Math.max(1, Math.floor(this.#reports.length / 3));
		for (const [title, some] of [
			['first third', this.#reports.slice(0, third)],
			['last third', this.#reports.slice(-third)],
		] as const) {
			const middle = (value: (report: Report) => number) => quantile(some.map(value), 0.5);
			console.log(
				`saturation, ${title}: ${middle(({ requests }) => requests.average).toFixed(0)} requests/s, ` +
					`p99 ${middle(({ latency }) => latency.p99)} ms, max ${Math.max(...some.map(({ latency }) => latency.max))} ms`,
			);
		}
		const sum = (value: (report: Report) => number) => this.#reports.reduce((total, each) => total + value(each), 0);
		const bad = sum(({ non2xx, errors, mismatches }) => non2xx + errors + mismatches);
		console.log(`saturation: ${this.answered} responses, ${bad} of them wrong`);
		if (bad > 0) process.exitCode = 1;
	}
}
