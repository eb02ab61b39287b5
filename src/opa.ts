import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { opaVersion, partOfOpa } from '../compiler/opa/build.js';
import { packageRoot } from '../compiler/opa/package-root.js';
import { ConfigError } from './config.js';
import { errorMessage } from './failure.js';

const ownTools = join(packageRoot, '.tools');

/** Where opa is looked for, and who is told when that takes long. */
interface OpaSearch {
	/** The folder of what set-up built. */
	readonly tools?: string;
	readonly say?: ((step: string) => void) | undefined;
}

/**
 * The absolute path of the opa to compile with: the one of OPA_PATH, else the one that set-up built, else the first on
 * PATH, else, where Go is on PATH, one that is built now, which takes a minute or two. Rejects with `ConfigError` when
 * there is none, or when it does not run.
 */
export async function findOpa(
	configured: string | null,
	searchPath: string,
	{ tools = ownTools, say }: OpaSearch = {},
): Promise<string> {
	const onPath = (name: string) =>
		searchPath.split(delimiter).flatMap((folder) => (folder === '' ? [] : [resolve(folder, name)]));
	const own = ['opa', partOfOpa].map((name) => join(tools, name));
	const candidates = configured === null ? [...own, ...onPath('opa')] : [resolve(configured)];
	const canBuild = configured === null && onPath('go').some(isProgram);
	const found = candidates.find(isProgram) ?? (canBuild ? await buildOpa(say) : undefined);
	if (found === undefined) {
		throw new ConfigError(
			configured === null
				? 'OPA_PATH: policies are compiled with opa, and there is neither opa on PATH nor Go to build it: install opa (version 1) or Go, or set OPA_PATH to an opa'
				: `OPA_PATH: ${whyNoProgram(resolve(configured))}; set it to an opa, version 1.22 or a newer 1.x, or unset it`,
		);
	}
	try {
		await opaVersion(found);
	} catch (error) {
		throw new ConfigError(`OPA_PATH: ${found} does not run as opa; set it to an opa, version 1.22 or a newer 1.x`, {
			cause: error,
		});
	}
	return found;
}

/** Builds opa as set-up does, which is part of the installed package. */
async function buildOpa(say: OpaSearch['say']): Promise<string> {
	const setUp = pathToFileURL(join(packageRoot, 'setup', 'opa.mjs')).href;
	try {
		const { provideOpa } = (await import(setUp)) as {
			readonly provideOpa: (root: string, say: (detail: string) => void, wanted: 'part') => Promise<string>;
		};
		let told = false;
		return await provideOpa(
			packageRoot,
			(detail) => {
				if (!told) say?.(`opa: ${detail}`);
				told = true;
			},
			'part',
		);
	} catch (error) {
		throw new ConfigError(`OPA_PATH: ${errorMessage(error)}`, { cause: error });
	}
}

function whyNoProgram(path: string): string {
	try {
		return statSync(path).isFile() ? `${path} may not be executed` : `${path} is a folder`;
	} catch {
		return `there is no program at ${path}`;
	}
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}
