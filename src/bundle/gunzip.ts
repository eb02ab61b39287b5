import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const decompress = promisify(gunzip);

/**
 * Decompresses a whole gzip file with Node.js. Other runtimes use `gunzip-web.ts`. Rejects with `RangeError` if the
 * result exceeds `limit` bytes, and with an `Error` if the file is not gzip.
 */
export function gunzipWithin(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
	return decompress(bytes, { maxOutputLength: limit });
}
