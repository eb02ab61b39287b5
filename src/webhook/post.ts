import type { Sender } from '../outbound/send.js';

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

/** What posts by `send`, and throws away what is answered besides the status. */
export function createPoster(send: Sender): Poster {
	return async (post) => {
		const answer = await send({ method: 'POST', ...post });
		return new Promise<number>((resolve) => {
			// The status has been told: how the answer ends changes nothing.
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
