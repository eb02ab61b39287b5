import type { Sender } from '../../outbound/send.js';

/** Maximum number of bytes to read and discard from a response. */
const maxAnswerBytes = 16 * 1024;

export interface Post {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** Sends a body and resolves to the status. Does not follow redirects. Rejects if there is no response. */
export type Poster = (post: Post) => Promise<number>;

/** Creates a poster based on `send`. Discards the response body. */
export function createPoster(send: Sender): Poster {
	return async (post) => {
		const answer = await send({ method: 'POST', ...post });
		return new Promise<number>((resolve) => {
			// The status is already known, so it does not matter how the response ends.
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
