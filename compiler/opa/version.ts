import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { OpaFailure } from './failure.js';
import { runOpa } from './run.js';

/** What each program said, by its path, and by what one would notice that there is another at this path now. */
const known = new Map<string, { readonly file: string; readonly version: string }>();

/**
 * The version of the tool, such as `1.22.0`. A program is asked once: starting it for each schema took longer than
 * many a schema's own work.
 * @throws OpaFailure when it does not run or prints no version.
 */
export async function opaVersion(opa: string): Promise<string> {
	const file = await identityOf(opa);
	const before = known.get(opa);
	if (before !== undefined && before.file === file) {
		return before.version;
	}
	const version = await askedVersion(opa);
	if (file !== null) {
		known.set(opa, { file, version });
	}
	return version;
}

/** Null when there is no such file; running it says more. */
async function identityOf(opa: string): Promise<string | null> {
	try {
		const { dev, ino, size, mtimeMs, ctimeMs } = await stat(opa);
		return JSON.stringify([dev, ino, size, mtimeMs, ctimeMs]);
	} catch {
		return null;
	}
}

async function askedVersion(opa: string): Promise<string> {
	const { stdout, stderr } = await runOpa(opa, ['version'], tmpdir());
	const version = /^Version:\s*(\S+)/m.exec(stdout)?.[1];
	if (version === undefined) {
		throw new OpaFailure(`\`${opa} version\` printed no version`, stderr, 0);
	}
	return version;
}
