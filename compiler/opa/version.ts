import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { OpaFailure } from './failure.js';
import { runOpa } from './run.js';

/**
 * The version of the tool, such as `1.22.0`.
 * @throws OpaFailure when it does not run or prints no version.
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
 * A function that gives the version of the tool at this path, as `opaVersion` does, and runs it again only when the
 * file has changed.
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

/** A text that changes with the file. Empty without a file: whoever runs it reports that. */
async function fileIdentity(path: string): Promise<string> {
	try {
		const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
		return JSON.stringify([dev, ino, size, mtimeMs, ctimeMs]);
	} catch {
		return '';
	}
}
