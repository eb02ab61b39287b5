import type { IncomingMessage } from 'node:http';

/** Returns the body text in UTF-8. Rejects if it is longer than `maxBytes`, is cut short, or does not end in time. */
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
