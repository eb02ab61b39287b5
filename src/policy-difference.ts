import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { RegoFile } from '../compiler/model.js';

/** Lines around a change that are shown with it. */
const context = 3;

/** What a difference is between: files and what to call their revision. */
export interface Side {
	readonly schema_revision: number;
	readonly files: readonly RegoFile[];
}

/**
 * What changed from one policy to another, as a unified diff that `patch -p1` takes: Rego and tables by path. Generated
 * tests say the same once more and are left out. Empty when nothing changed.
 */
export function policyDifference(from: Side, to: Side): string {
	const [before, after] = [textsOf(from), textsOf(to)];
	const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
	return paths.map((path) => differenceOf(path, before.get(path), after.get(path), from, to)).join('');
}

function textsOf({ files }: Side): ReadonlyMap<string, string> {
	return new Map(files.filter(({ path }) => !path.endsWith('_test.rego')).map(({ path, text }) => [path, text]));
}

function differenceOf(
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
