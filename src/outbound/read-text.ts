import type { IncomingMessage } from 'node:http';

/** Returns a response body as UTF-8 text. Rejects if the body is longer than `maxBytes`, incomplete, or too slow. */
export async function readText(answer: IncomingMessage, maxBytes: number): Promise<string> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	// Leaving the loop closes the connection.
	for await (const chunk of answer as AsyncIterable<Buffer>) {
		bytes += chunk.length;
		if (bytes > maxBytes) throw new Error(`longer than ${maxBytes} bytes`);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString();
}
