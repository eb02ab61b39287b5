import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { publicLookup, requirePublicHost } from './public-address.js';

/** How long an attempt may take, from the look-up of the name to the end of the answer, in milliseconds. */
const attemptMilliseconds = 5_000;
/** How much of an answer is read, in bytes. It is thrown away. */
const maxAnswerBytes = 16 * 1024;

/** What is sent where. */
export interface Post {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** Sends a body and gives the status of the answer. Redirections are answers like any other. Rejects without an answer. */
export type Poster = (post: Post) => Promise<number>;

/** What posts to public addresses alone, or to any with `allowPrivate`. Each post has a connection of its own. */
export function createPoster(allowPrivate: boolean, lookup: LookupFunction = publicLookup()): Poster {
	return async ({ url, headers, body }) => {
		const target = new URL(url);
		if (!allowPrivate) requirePublicHost(target.hostname);
		const sender = target.protocol === 'https:' ? requestHttps : requestHttp;
		const guarded = allowPrivate ? {} : { lookup };
		return new Promise<number>((resolve, reject) => {
			const signal = AbortSignal.timeout(attemptMilliseconds);
			const sent = sender(target, { method: 'POST', headers, agent: false, signal, ...guarded }, (answer) => {
				const done = () => resolve(answer.statusCode ?? 0);
				sent.removeListener('error', reject).on('error', done);
				let bytes = 0;
				answer.on('data', (chunk: Buffer) => {
					bytes += chunk.length;
					if (bytes > maxAnswerBytes) answer.destroy();
				});
				// The status has been told: how the answer ends changes nothing.
				answer.on('close', done).on('error', done);
			});
			sent.on('error', reject);
			sent.end(body);
		});
	};
}
