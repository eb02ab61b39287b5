import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { v2Successor } from '../../wire/v1.js';

/** Line of code that still uses version 1. */
export interface Leftover {
	/** File, relative to the searched folder. */
	readonly file: string;
	/** Line number, from 1. */
	readonly line: number;
	/** Problem and remedy in a sentence. */
	readonly problem: string;
}

/** Folders with third-party or generated code. */
const skipped: ReadonlySet<string> = new Set([
	'.git',
	'node_modules',
	'vendor',
	'dist',
	'build',
	'out',
	'target',
	'coverage',
	'.venv',
	'venv',
	'__pycache__',
]);
/** Maximum file size in bytes. Larger files are not handwritten. */
const largest = 1024 * 1024;

/**
 * Searches a folder's text files for version 1 names: paths, slugs and `custom_id`, SDK write calls, and the decision
 * point image. Does not follow symbolic links. Throws the system error if the folder cannot be read.
 */
export function findLeftovers(folder: string): readonly Leftover[] {
	return [...filesIn(folder)].flatMap((path) => fileLeftovers(relative(folder, path), readFileSync(path)));
}

function* filesIn(folder: string): Generator<string> {
	const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
	for (const entry of entries) {
		const path = join(folder, entry.name);
		if (entry.isDirectory() && !skipped.has(entry.name)) yield* filesIn(path);
		else if (entry.isFile() && statSync(path).size <= largest) yield path;
	}
}

function fileLeftovers(file: string, bytes: Buffer): readonly Leftover[] {
	// A NUL byte means a binary file.
	if (bytes.includes(0)) return [];
	const lines = bytes.toString('utf8').split('\n');
	return lines.flatMap((text, index) => lineProblems(text).map((problem) => ({ file, line: index + 1, problem })));
}

function lineProblems(text: string): readonly string[] {
	return [...pathProblems(text), ...words.filter(({ pattern }) => pattern.test(text)).map(({ problem }) => problem)];
}

/** Many APIs have paths that begin with `/v1/`. Count only paths that contain a Regolith object type. */
function pathProblems(text: string): readonly string[] {
	return [...text.matchAll(/\/v1(?:\/[^\s/'"`?#,;)]+)+/g)].flatMap(([path]) => {
		const successor = v2Successor(path);
		return successor === null ? [] : [`the path ${path} belongs to version 1: use ${successor}`];
	});
}

const words: readonly { readonly pattern: RegExp; readonly problem: string }[] = [
	{ pattern: /\bcustom_?id\b/i, problem: '`custom_id` belongs to version 1: use the key' },
	{
		pattern: /\b(organization|org|project|environment|env|tenant|role|resource|action)_?slugs?\b/i,
		problem: 'slugs belong to version 1: use the key',
	},
	{
		pattern: /\.write\s*\(\s*(await\s+)?[\w.]*\bapi\s*\./,
		problem: 'a separate write step belongs to version 1: version 2 SDK calls write immediately',
	},
	{ pattern: /\bpermitio\/pdp(?!-v2)\b/, problem: 'this is the image of the version 1 decision point' },
];
