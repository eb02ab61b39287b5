import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../failure.js';
import type { Logger } from '../log.js';
import type { Answered, Answers, Asked, HeldState, Question } from './messages.js';

export interface ProcessLimits {
	/** Resident memory in MiB. */
	readonly memory: number;
	/** Total time for a request, in milliseconds. */
	readonly time: number;
}

/** Maximum logged length of a process's standard error, in characters. */
const maxSaid = 2_000;

/** A process that compares states of an environment. It holds a single state and processes queries in sequence. */
export class ImpactProcess {
	readonly #child: ChildProcess;
	readonly #ended: Promise<void>;
	#held: HeldState | null = null;
	#asked = 0;
	#said = '';
	/** Reason for killing the process; `undefined` if this class has not killed it. */
	#killed: Failure | undefined;

	constructor(
		private readonly limits: ProcessLimits,
		private readonly log: Logger,
		program = fileURLToPath(new URL('./impact-worker.js', import.meta.url)),
	) {
		this.#child = fork(program, [String(limits.memory)], {
			// Limits the JavaScript heap, which is smaller than the WASM memory. The process itself enforces the limit for its
			// total memory.
			execArgv: [`--max-old-space-size=${limits.memory}`],
			// The process needs no settings, and must not see secrets.
			env: {},
			serialization: 'advanced',
			stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
		});
		this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
			this.#said = (this.#said + text).slice(0, maxSaid);
		});
		// The process exit reports the same problem.
		this.#child.on('error', () => undefined);
		this.#ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
	}

	/** Held state; `null` before the first state, and after the process has ended. */
	get held(): HeldState | null {
		return this.#held;
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	/** True if the process accepts queries. */
	get answers(): boolean {
		return this.#child.connected && this.#killed === undefined;
	}

	/** Records the held state after a reply. */
	holds(held: HeldState): void {
		this.#held = held;
	}

	/**
	 * Sends a query. Kills the process if it does not reply within `milliseconds`. Rejects with `Failure` (`unavailable`)
	 * if the process fails, ends or is killed. The process accepts no queries afterwards.
	 */
	async ask<Kind extends keyof Answers>(
		question: Extract<Question, { readonly kind: Kind }>,
		milliseconds: number,
	): Promise<Answers[Kind]> {
		const id = ++this.#asked;
		const late = setTimeout(() => this.#kill(tooLong(this.limits)), Math.max(0, milliseconds));
		try {
			const answered = await this.#answer({ id, question });
			if ('failure' in answered) {
				await this.stop();
				if (answered.too_large) throw tooMuch(this.limits);
				this.log.error({ reason: answered.failure, question: question.kind }, 'the impact process failed');
				throw failed();
			}
			// The process replies to each query with the matching type.
			return answered.value as Answers[Kind];
		} finally {
			clearTimeout(late);
		}
	}

	/** Kills the process. Resolves when it has ended. */
	async stop(): Promise<void> {
		this.#kill(failed());
		await this.#ended;
	}

	#kill(reason: Failure): void {
		this.#killed ??= reason;
		this.#held = null;
		this.#child.kill('SIGKILL');
	}

	#answer(asked: Asked): Promise<Answered> {
		return new Promise((resolve, reject) => {
			const hear = (answered: Answered) => {
				if (answered.id === asked.id) settle(() => resolve(answered));
			};
			const settle = (then: () => void) => {
				this.#child.off('message', hear);
				then();
			};
			this.#child.on('message', hear);
			void this.#ended.then(() =>
				settle(() => {
					const { exitCode: code, signalCode: signal } = this.#child;
					if (this.#killed === undefined) {
						this.log.error({ code, signal, said: this.#said }, 'the impact process ended');
					}
					this.#held = null;
					reject(this.#killed ?? failed());
				}),
			);
			// If sending fails, the process has ended or is about to end.
			if (this.#child.connected) this.#child.send(asked, () => undefined);
		});
	}
}

function failed(): Failure {
	return new Failure('unavailable', 'the impact process has ended: try again');
}

/** Returns the failure of a request that exceeds the time limit. */
export function tooLong({ time }: ProcessLimits): Failure {
	const message = `comparing the states takes more than ${time / 1000} s (IMPACT_TIMEOUT)`;
	return new Failure('unavailable', message);
}

function tooMuch({ memory }: ProcessLimits): Failure {
	return new Failure('unavailable', `comparing the states takes more than ${memory} MiB (IMPACT_MEMORY)`);
}
