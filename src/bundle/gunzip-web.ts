/** Like `gunzip.ts`, with web streams. */
export async function gunzipWithin(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
	const stream = new DecompressionStream('gzip');
	const writer = stream.writable.getWriter();
	// The reader reports the same errors.
	writer.write(bytes).catch(() => undefined);
	writer.close().catch(() => undefined);
	const chunks: Uint8Array[] = [];
	let length = 0;
	const reader = stream.readable.getReader();
	for (let read = await reader.read(); !read.done; read = await reader.read()) {
		const chunk: Uint8Array = read.value;
		length += chunk.length;
		if (length > limit) {
			reader.cancel().catch(() => undefined);
			throw new RangeError(`more than ${limit} bytes`);
		}
		chunks.push(chunk);
	}
	const whole = new Uint8Array(length);
	let at = 0;
	for (const chunk of chunks) {
		whole.set(chunk, at);
		at += chunk.length;
	}
	return whole;
}
