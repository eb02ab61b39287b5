import { readFileSync } from 'node:fs';

/**
 * Reads the tags in the first line of a test file, such as `// @alone @rest`:
 * - `@alone`: the file needs its own process, because it is long, drives pages, limits time, changes its process, or
 *   has an `await` before it declares its tests.
 * - `@long`: AVA starts the file first, so it does not run alone at the end.
 * - `@draws`: the file draws random cases with `draws`. `npm test` runs a third of the cases, and `npm run test:rest`
 *   runs two thirds.
 * - `@rest`: `npm run test:rest` runs the file, and `npm test` does not.
 * @param {string} path
 * @returns {ReadonlySet<string>}
 */
export function readTags(path) {
	const [line = ''] = readFileSync(path, 'utf8').split('\n', 1);
	return new Set(line.startsWith('//') ? line.match(/@\w+/g) : []);
}
