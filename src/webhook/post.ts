import type { Sender } from '../outbound/send.js';

/** Maximum bytes read from an answer, which is discarded. */
const maxAnswerBytes = 16 * 1024;

export interface Post {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** Sends a body and returns the status. Does not follow redirects. Rejects without an answer. */
export type Poster = (post: Post) => Promise<number>;

/** Creates a poster based on `send`. Discards the answer body. */
export function createPoster(send: Sender): Poster {
	return async (post) => {
		const answer = await send({ method: 'POST', ...post });
		return new Promise<number>((resolve) => {
			// The status is already known: the end of the answer does not matter.
			const done = () => resolve(answer.statusCode ?? 0);
			answer.on('close', done).on('error', done);
			let bytes = 0;
			answer.on('data', (chunk: Buffer) => {
				bytes += chunk.length;
				if (bytes > maxAnswerBytes) answer.destroy();
			});
		});
	};
}
