import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../compiler/opa/package-root.js';
import { ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';

/** Setup code that provides opa: plain JavaScript in `setup/`, which is in the installed package. */
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

/** Options for the search. */
interface OpaSearch {
	/** Package folder, with the opa pin and build results from setup. */
	readonly root?: string;
	readonly say?: ((step: string) => void) | undefined;
}

/**
 * Returns the absolute path of the opa to compile with, chosen like setup does: OPA_PATH, else the earlier build, else
 * the first sufficiently new opa on PATH, else, if Go is on PATH, a new build, which takes a minute or two. Rejects
 * with `ConfigError` if there is none, or if OPA_PATH is too old or does not run.
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

/** Announces a build. Only a terminal needs its progress. */
function onlyFirst(say: OpaSearch['say']): (detail: string) => void {
	let told = false;
	return (detail) => {
		if (!told) say?.(`opa: ${detail}`);
		told = true;
	};
}

/** Rewords a setup message for the setting. */
function oneLine(message: string): string {
	const line = message.replaceAll('\n', ' ');
	return line.startsWith('OPA_PATH: ') ? line : `OPA_PATH: ${line}`;
}
