import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { opaVersion } from '../compiler/opa/build.js';
import { packageRoot } from '../compiler/opa/package-root.js';
import { ConfigError } from './config.js';

const ownTools = join(packageRoot, '.tools');

/**
 * The absolute path of the opa to compile with: the one of OPA_PATH, else the one that set-up built, else the first on
 * PATH. Rejects with `ConfigError` when there is none, or when it does not run.
 */
export async function findOpa(configured: string | null, searchPath: string, tools = ownTools): Promise<string> {
	const own = join(tools, 'opa');
	const onPath = searchPath.split(delimiter).flatMap((folder) => (folder === '' ? [] : [resolve(folder, 'opa')]));
	const found = (configured === null ? [own, ...onPath] : [resolve(configured)]).find(isProgram);
	if (found === undefined) {
		throw new ConfigError(
			configured === null
				? 'OPA_PATH: policies are compiled with opa, and there is none on PATH: install it (version 1), or set OPA_PATH to it'
				: `OPA_PATH: there is no program at ${resolve(configured)}`,
		);
	}
	try {
		await opaVersion(found);
	} catch (error) {
		throw new ConfigError(`OPA_PATH: the opa at ${found} does not run`, { cause: error });
	}
	return found;
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}
