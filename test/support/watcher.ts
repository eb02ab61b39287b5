import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Client } from './client.js';
import type { Question } from './world.js';

/** Asserts that a decision point never goes back to an earlier revision, not even after restarts. */
export class Watcher {
	#newest = 0;

	constructor(private readonly pdp: Client) {}

	/** Sends checks repeatedly until stopped. */
	async run(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			await this.ask({ user: 'nobody', action: 'read', resource: { type: 'document', tenant: 'default' } });
			await sleep(5);
		}
	}

	/**
	 * Sends a check, which must be decided at this revision or a later revision. Returns `undefined` if there is no
	 * response.
	 */
	async ask(asked: Question, revision?: number): Promise<Answer<{ readonly allow: boolean }> | undefined> {
		const before = this.#newest;
		const headers: Record<string, string> = revision === undefined ? {} : { 'x-min-revision': String(revision) };
		const answer = await answered(this.pdp.post<{ readonly allow: boolean }>('/allowed', asked, { headers }));
		if (answer === undefined || answer.status === 503) return undefined;
		if (answer.status !== 200 || answer.revision === undefined) {
			throw new Error(`a check was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
		}
		if (answer.revision < before)
			throw new Error(`a decision point went from revision ${before} to ${answer.revision}`);
		if (revision !== undefined && answer.revision < revision) {
			throw new Error(`a check at revision ${revision} was answered at revision ${answer.revision}`);
		}
		this.#newest = Math.max(this.#newest, answer.revision);
		return answer;
	}
}

/** Error codes for a refused or prematurely closed connection. */
const broken: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Returns the response, or `undefined` if the connection broke before the response was complete. */
export async function answered<Body>(sent: Promise<Answer<Body>> | undefined): Promise<Answer<Body> | undefined> {
	try {
		return await sent;
	} catch (error) {
		if (error instanceof Error && 'code' in error && broken.has(error.code)) return undefined;
		throw error;
	}
}
