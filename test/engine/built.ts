/** The package as its users get it: what `npm run build` makes. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Library from '../../packages/engine/src/index.js';
import { root } from '../support/root.js';

/** The folder of the package. */
export const packageFolder = join(root, 'packages/engine');

/** The file of one of its builds. */
export const buildFile = (name: 'node' | 'edge'): string => join(packageFolder, 'dist', `${name}.js`);

/** Imports one of its builds. */
export const importBuild = async (name: 'node' | 'edge'): Promise<typeof Library> =>
	(await import(pathToFileURL(buildFile(name)).href)) as typeof Library;
