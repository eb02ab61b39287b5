import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { RegoFile } from '../../../compiler/model.js';

/** Number of unchanged lines around a change. */
const context = 3;

/** One side of a comparison: a policy's files, and their revision. */
export interface Side {
	readonly schema_revision: number;
	readonly files: readonly RegoFile[];
}

/**
 * Returns the changes between two policies as a unified diff for `patch -p1`. The diff covers Rego and tables, ordered
 * by path. It omits generated tests because they repeat the same changes. Empty if nothing changed.
 */
export function policyDifference(from: Side, to: Side): string {
	const [before, after] = [comparedTexts(from), comparedTexts(to)];
	const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
	return paths.map((path) => fileDifference(path, before.get(path), after.get(path), from, to)).join('');
}

function comparedTexts({ files }: Side): ReadonlyMap<string, string> {
	return new Map(files.filter(({ path }) => !path.endsWith('_test.rego')).map(({ path, text }) => [path, text]));
}

function fileDifference(
	path: string,
	before: string | undefined,
	after: string | undefined,
	from: Side,
	to: Side,
): string {
	if (before === after) return '';
	return createTwoFilesPatch(
		before === undefined ? '/dev/null' : `a/${path}`,
		after === undefined ? '/dev/null' : `b/${path}`,
		before ?? '',
		after ?? '',
		`schema revision ${from.schema_revision}`,
		`schema revision ${to.schema_revision}`,
		{ context, headerOptions: FILE_HEADERS_ONLY },
	);
}
