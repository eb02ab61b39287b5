/** The package as built by `npm run build`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Library from '../../packages/engine/src/index.js';
import { root } from '../support/root.js';

/** Package folder. */
export const packageFolder = join(root, 'packages/engine');

/** Returns the path of a build's file. */
export const buildFile = (name: 'node' | 'edge'): string => join(packageFolder, 'dist', `${name}.js`);

/** Imports a build. */
export const importBuild = async (name: 'node' | 'edge'): Promise<typeof Library> =>
	(await import(pathToFileURL(buildFile(name)).href)) as typeof Library;
