import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../compiler/opa/package-root.js';
import { ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';

/** The part of set-up that provides opa. Set-up is plain JavaScript in `setup/`, and part of the installed package. */
interface SetUp {
	readonly prepareOpa: (
		root: string,
		wanted: 'part',
		environment: Environment,
	) => Promise<{
		readonly found?: { readonly path: string };
		readonly provide: (say: (detail: string) => void) => Promise<string>;
	}>;
}

interface Environment {
	readonly OPA_PATH: string;
	readonly PATH: string;
}

/** Where opa is looked for, and who is told when that takes long. */
interface OpaSearch {
	/** The folder of the package, with the pin of opa and with what set-up built. */
	readonly root?: string;
	readonly say?: ((step: string) => void) | undefined;
}

/**
 * The absolute path of the opa to compile with, chosen as set-up chooses it: the one of OPA_PATH, else the one that was
 * built before, else the first on PATH that is new enough, else, where Go is on PATH, one that is built now, which takes
 * a minute or two. Rejects with `ConfigError` when there is none, or when that of OPA_PATH is too old or does not run.
 */
export async function findOpa(
	configured: string | null,
	searchPath: string,
	{ root = packageRoot, say }: OpaSearch = {},
): Promise<string> {
	const { prepareOpa } = await loadSetUp();
	const environment = { OPA_PATH: configured ?? '', PATH: searchPath };
	try {
		const { found, provide } = await prepareOpa(root, 'part', environment);
		return found?.path ?? (await provide(onlyFirst(say)));
	} catch (error) {
		throw new ConfigError(oneLine(errorMessage(error)), { cause: error });
	}
}

async function loadSetUp(): Promise<SetUp> {
	return import(pathToFileURL(join(packageRoot, 'setup', 'opa.mjs')).href);
}

/** Announces a build. Its progress is for a terminal. */
function onlyFirst(say: OpaSearch['say']): (detail: string) => void {
	let told = false;
	return (detail) => {
		if (!told) say?.(`opa: ${detail}`);
		told = true;
	};
}

/** A message of set-up as the one of a setting. */
function oneLine(message: string): string {
	const line = message.replaceAll('\n', ' ');
	return line.startsWith('OPA_PATH: ') ? line : `OPA_PATH: ${line}`;
}
