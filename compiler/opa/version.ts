import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { OpaFailure } from './failure.js';
import { runOpa } from './run.js';

/**
 * Returns the tool's version, such as `1.22.0`.
 * @throws OpaFailure if it does not run or prints no version.
 */
export async function opaVersion(opa: string): Promise<string> {
	const { stdout, stderr } = await runOpa(opa, ['version'], tmpdir());
	const version = /^Version:\s*(\S+)/m.exec(stdout)?.[1];
	if (version === undefined) {
		throw new OpaFailure(`\`${opa} version\` printed no version`, stderr, 0);
	}
	return version;
}

/**
 * Returns a function that returns the tool's version. It runs the tool again only if the tool's file has changed.
 */
export function rememberedVersion(opa: string): () => Promise<string> {
	let known: { readonly file: string; readonly version: string } | undefined;
	return async () => {
		const file = await fileIdentity(opa);
		if (known === undefined || known.file !== file) {
			known = { file, version: await opaVersion(opa) };
		}
		return known.version;
	};
}

/**
 * Returns a string to detect changes to the file. Returns an empty string for a missing file; running the tool then
 * reports the error.
 */
async function fileIdentity(path: string): Promise<string> {
	try {
		const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
		return JSON.stringify([dev, ino, size, mtimeMs, ctimeMs]);
	} catch {
		return '';
	}
}
