import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const decompress = promisify(gunzip);

/**
 * Decompresses a whole gzip file, by Node.js; `gunzip-web.ts` takes its place in runtimes without it. Rejects with
 * `RangeError` when that gives more than `limit` bytes, and with an `Error` for anything that is not a gzip file.
 */
export function gunzipWithin(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
	return decompress(bytes, { maxOutputLength: limit });
}
