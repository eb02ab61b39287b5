import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../compiler/opa/package-root.js';
import { ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';

/** Setup code that provides opa. It is plain JavaScript in `setup/`, a folder that the installed package contains. */
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

interface OpaSearch {
	/** Package folder, which contains the pinned opa version and the build results from setup. */
	readonly root?: string;
	readonly say?: ((step: string) => void) | undefined;
}

/**
 * Returns the absolute path of the opa that compiles policies. Uses the first available choice, in the same order as
 * setup: OPA_PATH, an earlier build, the first sufficiently new opa on PATH, or, if Go is on PATH, a new build, which
 * takes a minute or two. Rejects with `ConfigError` if none is available, or if the program at OPA_PATH is too old or
 * does not run.
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

/**
 * Returns a function that reports only the first message, which announces a build. Further progress messages are only
 * useful on a terminal.
 */
function onlyFirst(say: OpaSearch['say']): (detail: string) => void {
	let told = false;
	return (detail) => {
		if (!told) say?.(`opa: ${detail}`);
		told = true;
	};
}

/** Rewords a message from setup so the message contains the setting. */
function oneLine(message: string): string {
	const line = message.replaceAll('\n', ' ');
	return line.startsWith('OPA_PATH: ') ? line : `OPA_PATH: ${line}`;
}
