import { Failure } from '../failure.js';
import { isV1, v2Successor } from '../wire/v1.js';

const guide = 'docs/develop/migration.md explains the migration';

/** Returns the failure for a version 1 path, with the version 2 path; `null` for other paths. */
export function v1Failure(path: string): Failure | null {
	if (!isV1(path)) return null;
	const successor = v2Successor(path);
	const where =
		successor === null
			? 'find the version 2 path by the object type'
			: `use \`${successor}\`, with keys in place of slugs and \`custom_id\``;
	const info = { successor, guide: 'docs/develop/migration.md' };
	return new Failure('gone', `version 1 of the API is not supported: ${where}; ${guide}`, info);
}
