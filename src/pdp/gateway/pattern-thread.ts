/**
 * Matches regular expressions with unbounded run time in a thread. If a match takes too long, the thread is terminated.
 */

import { Failure } from '../../failure.js';
import { LimitedThread } from '../../limit/limited-thread.js';
import type { Logger } from '../../log.js';
import type { UrlAttributes } from './url-pattern.js';

/** Request to the thread: does a JavaScript regular expression match at the start of a URL? */
export interface PatternQuestion {
	readonly source: string;
	readonly url: string;
}

/** Reply from the thread: the named groups of the match; null if there is no match. */
export interface PatternAnswer {
	readonly groups: readonly (readonly [name: string, text: string | null])[] | null;
}

/** Default time limit per match, in milliseconds. */
const defaultLimit = 20;

/** Maximum number of matches waiting for the thread. */
const maxWaiting = 100;

export interface PatternThreadOptions {
	readonly log: Logger;
	/** Time limit per match, in milliseconds; 20 by default. */
	readonly limit?: number;
}

/**
 * The matching thread. Starts with the first match, and is replaced after it was terminated. Does not keep the process
 * running.
 */
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
	 * Matches the expression at the start of the URL and returns its named groups; null if the expression does not match
	 * or does not compile, and `late` if the match takes too long. Matches run in sequence. Throws `Failure`
	 * (`unavailable`) if too many matches wait.
	 */
	async match(source: string, url: string): Promise<UrlAttributes | null | 'late'> {
		if (this.#waiting >= maxWaiting) throw new Failure('unavailable', 'too many regular expression matches are queued');
		this.#waiting += 1;
		try {
			const answer = await this.#thread.ask({ source, url }, this.#limit);
			if (answer !== 'late') return answer.groups && Object.fromEntries(answer.groups);
			this.#log.warn(
				{ pattern: source },
				`a mapping rule took more than ${this.#limit} ms: the request matches no rule`,
			);
			return answer;
		} finally {
			this.#waiting -= 1;
		}
	}
}
