import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { archive } from '../../compiler/opa/archive.js';
import { type BundleFile, pathInBundle } from './bundle.js';

const compress = promisify(gzip);

/**
 * Packs files into a bundle, which is a gzipped tar file. The same files give the same bytes, in any order and on any
 * machine.
 */
export async function pack(files: readonly BundleFile[]): Promise<Uint8Array> {
	const tar = await archive(files.map(({ path, bytes }) => ({ path: pathInBundle(path), content: bytes })));
	const packed = await compress(tar, { level: 6 });
	// The gzip header names the operating system; 255 is "unknown".
	packed[9] = 255;
	return packed;
}
