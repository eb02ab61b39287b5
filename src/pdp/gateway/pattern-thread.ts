/** Matches regular expressions that may take any time, in one thread that is ended when one takes too long. */

import { Failure } from '../../failure.js';
import { LimitedThread } from '../../limit/limited-thread.js';
import type { Logger } from '../../log.js';
import type { UrlAttributes } from './url-pattern.js';

/** What the thread is asked: whether an expression, as JavaScript writes it, matches at the start of a URL. */
export interface PatternQuestion {
	readonly source: string;
	readonly url: string;
}

/** What the thread answers: the named groups of the match, or null. */
export interface PatternAnswer {
	readonly groups: readonly (readonly [name: string, text: string | null])[] | null;
}

/** How long one match may take, in milliseconds. */
const defaultLimit = 20;

/** How many matches may wait for the thread. */
const maxWaiting = 100;

/** Options of a thread. */
export interface PatternThreadOptions {
	readonly log: Logger;
	/** How long one match may take, in milliseconds; 20 unless given. */
	readonly limit?: number;
}

/** The thread, which starts with the first match and is replaced when it had to be ended. It keeps no process alive. */
export class PatternThread {
	readonly #log: Logger;
	readonly #limit: number;
	readonly #thread: LimitedThread<PatternQuestion, PatternAnswer>;
	#waiting = 0;

	constructor({ log, limit = defaultLimit }: PatternThreadOptions) {
		this.#log = log;
		this.#limit = limit;
		this.#thread = new LimitedThread(new URL('./pattern-worker.js', import.meta.url), log);
	}

	/**
	 * What the named groups of the expression match at the start of the URL; null when it does not match or does not
	 * compile, and `late` when that takes too long to find out. One match follows the other. Throws `Failure`
	 * (`unavailable`) when too many wait.
	 */
	async match(source: string, url: string): Promise<UrlAttributes | null | 'late'> {
		if (this.#waiting >= maxWaiting)
			throw new Failure('unavailable', 'too many regular expressions wait to be matched');
		this.#waiting += 1;
		try {
			const answer = await this.#thread.ask({ source, url }, this.#limit);
			if (answer !== 'late') return answer.groups && Object.fromEntries(answer.groups);
			this.#log.warn({ pattern: source }, `a mapping rule took more than ${this.#limit} ms: the request matches none`);
			return answer;
		} finally {
			this.#waiting -= 1;
		}
	}
}
