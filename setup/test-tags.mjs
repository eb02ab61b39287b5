import { readFileSync } from 'node:fs';
import { SetupError } from './progress.mjs';

/**
 * Reads the tags in the first line of a test file, such as `// @alone @rest`:
 * - `@alone`: the file needs its own process, because it is long, drives pages, limits time, changes its process, or
 *   has an `await` before it declares its tests.
 * - `@apart`: the file needs its own process outside the push tier, because all its draws take long.
 * - `@long`: AVA starts the file first, so it does not run alone at the end.
 * - `@rest`: `npm run test:rest` runs the file, and `npm test` does not.
 * - `@both`: both run the file, which divides its tests or random draws between them with `test/support/tier.ts`.
 *
 * Throws a `SetupError` for tags below the first line.
 * @param {string} path
 * @returns {ReadonlySet<string>}
 */
export function readTags(path) {
	const [line = '', ...others] = readFileSync(path, 'utf8').split('\n');
	if (others.some((other) => /^\/\/ @(alone|apart|long|rest|both)\b/.test(other))) {
		throw new SetupError(`${path}: the tags must be in the first line.`);
	}
	return new Set(line.startsWith('//') ? line.match(/@\w+/g) : []);
}
