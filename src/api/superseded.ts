import { Failure } from '../failure.js';
import { isV1, successorOf } from '../wire/v1.js';

const guide = 'docs/migration.md says how to migrate';

/** What to answer on a path of version 1, which is not served: where its objects are now; `null` for other paths. */
export function supersededBy(path: string): Failure | null {
	if (!isV1(path)) return null;
	const successor = successorOf(path);
	const where =
		successor === null
			? 'version 2 finds an object by its type'
			: `use \`${successor}\`, with keys in place of slugs and \`custom_id\``;
	const info = { successor, guide: 'docs/migration.md' };
	return new Failure('gone', `version 1 of the API is not served: ${where}; ${guide}`, info);
}
