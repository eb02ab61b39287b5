import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../failure.js';
import type { Logger } from '../log.js';
import type { Answered, Answers, Asked, HeldState, Question } from './messages.js';

/** What a process may have. */
export interface ProcessLimits {
	/** Its resident memory, in MiB. */
	readonly memory: number;
	/** How long all answers to one request may take, in milliseconds. */
	readonly time: number;
}

/** The longest text of a process's standard error that is logged, in characters. */
const maxSaid = 2_000;

/** A process that compares states of one environment. It holds one state, and answers one question after the other. */
export class ImpactProcess {
	readonly #child: ChildProcess;
	readonly #ended: Promise<void>;
	#held: HeldState | null = null;
	#asked = 0;
	#said = '';
	/** Why it was ended from here. */
	#killed: Failure | undefined;

	constructor(
		private readonly limits: ProcessLimits,
		private readonly log: Logger,
		program = fileURLToPath(new URL('./impact-worker.js', import.meta.url)),
	) {
		this.#child = fork(program, [String(limits.memory)], {
			// Values outside of WASM memory are the smaller part. Beyond this the process ends by itself.
			execArgv: [`--max-old-space-size=${limits.memory}`],
			// It needs no settings, and is to know no secrets.
			env: {},
			serialization: 'advanced',
			stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
		});
		this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
			this.#said = (this.#said + text).slice(0, maxSaid);
		});
		// Its exit says the same.
		this.#child.on('error', () => undefined);
		this.#ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
	}

	/** What it holds; `null` before it holds anything, and once it has ended. */
	get held(): HeldState | null {
		return this.#held;
	}

	/** The id of the process. */
	get pid(): number | undefined {
		return this.#child.pid;
	}

	/** Whether it can be asked. */
	get answers(): boolean {
		return this.#child.connected && this.#killed === undefined;
	}

	/** Tells what it holds after an answer. */
	holds(held: HeldState): void {
		this.#held = held;
	}

	/**
	 * Asks, and ends the process when it does not answer within so many milliseconds. Rejects with `Failure`
	 * (`unavailable`) when it fails, ends or is ended; then it cannot be asked again.
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
				this.log.error(
					{ reason: answered.failure, question: question.kind },
					'the process that compares states failed',
				);
				throw failed();
			}
			// The process answers a question with the answer to its kind.
			return answered.value as Answers[Kind];
		} finally {
			clearTimeout(late);
		}
	}

	/** Ends the process; resolves when it has ended. */
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
						this.log.error({ code, signal, said: this.#said }, 'the process that compares states ended');
					}
					this.#held = null;
					reject(this.#killed ?? failed());
				}),
			);
			// If it cannot be sent, the process has ended or is about to.
			if (this.#child.connected) this.#child.send(asked, () => undefined);
		});
	}
}

function failed(): Failure {
	return new Failure('unavailable', 'the process that compares states has ended: try again');
}

function tooLong({ time }: ProcessLimits): Failure {
	const message = `it takes more than ${time / 1000} s to compare the states (IMPACT_TIMEOUT)`;
	return new Failure('unavailable', message);
}

function tooMuch({ memory }: ProcessLimits): Failure {
	return new Failure('unavailable', `it takes more than ${memory} MiB to compare the states (IMPACT_MEMORY)`);
}
