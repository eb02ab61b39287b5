import { diffCounts, diffLines } from './line-diff.js';

/** Human-readable policy files: a tree, an outline for each file, and the differences between two policies. */

/** Policy file: its path with slashes, and its text. */
export interface PolicyFile {
	readonly path: string;
	readonly text: string;
}

/** Folder or file in a policy tree. */
export type PolicyNode = PolicyFolder | PolicyLeaf;

export interface PolicyFolder {
	readonly kind: 'folder';
	readonly name: string;
	readonly path: string;
	readonly nodes: readonly PolicyNode[];
	/** Number of files in the folder and its subfolders. */
	readonly count: number;
}

export interface PolicyLeaf {
	readonly kind: 'file';
	/** Includes the names of parent folders that contain only this file. */
	readonly name: string;
	readonly path: string;
	/** Title of the file's schema object; `null` if there is none. */
	readonly title: string | null;
}

/**
 * Builds a tree from files. Folders come first, and names are sorted. A folder that contains a single file is merged
 * into the name of this file.
 */
export function policyTree(files: readonly PolicyFile[]): readonly PolicyNode[] {
	return nodes(
		files.map((file) => ({ file, steps: file.path.split('/') })),
		[],
	);
}

interface Stepped {
	readonly file: PolicyFile;
	readonly steps: readonly string[];
}

function nodes(files: readonly Stepped[], above: readonly string[]): readonly PolicyNode[] {
	const depth = above.length;
	const leaves = files.filter(({ steps }) => steps.length === depth + 1);
	const folders = new Map<string, Stepped[]>();
	for (const one of files) {
		const name = one.steps[depth];
		if (name === undefined || one.steps.length === depth + 1) continue;
		const inside = folders.get(name);
		if (inside === undefined) folders.set(name, [one]);
		else inside.push(one);
	}
	const byName = [...folders].sort(([left], [right]) => compareText(left, right));
	return [
		...byName.map(([name, inside]) => folderNode(name, inside, above)),
		...leaves.map((one) => leaf(one, depth)).sort((left, right) => compareText(left.name, right.name)),
	];
}

function folderNode(name: string, inside: readonly Stepped[], above: readonly string[]): PolicyNode {
	const [only, ...others] = inside;
	if (only !== undefined && others.length === 0) return leaf(only, above.length);
	const steps = [...above, name];
	return { kind: 'folder', name, path: steps.join('/'), nodes: nodes(inside, steps), count: inside.length };
}

function leaf({ file, steps }: Stepped, depth: number): PolicyLeaf {
	return { kind: 'file', name: steps.slice(depth).join('/'), path: file.path, title: fileTitle(file.text) };
}

function compareText(left: string, right: string): number {
	return left < right ? -1 : left === right ? 0 : 1;
}

/** Returns the title from the first METADATA block; `null` if there is no such block. */
function fileTitle(text: string): string | null {
	const found = /^# METADATA\n(?:#.*\n)*?# title: (.*)$/m.exec(text)?.[1];
	return found === undefined ? null : scalar(found);
}

/** Annotated part in a Rego file. */
export interface OutlineEntry {
	/** Number of the annotated line, counted from 1. */
	readonly line: number;
	readonly title: string;
	readonly description: string | null;
	/** Schema object kind, such as `action`; `null` if there is no object. */
	readonly kind: string | null;
	/** Schema object key. */
	readonly key: string | null;
}

/** Returns the METADATA blocks in a Rego file, each with its annotated line. Ignores blocks without a title. */
export function regoOutline(text: string): readonly OutlineEntry[] {
	const entries: OutlineEntry[] = [];
	let block: Record<string, string> | null = null;
	for (const [index, line] of text.split('\n').entries()) {
		if (line === '# METADATA') block = {};
		else if (block === null) continue;
		else if (line.startsWith('#')) Object.assign(block, annotation(line));
		else {
			const { title, description = null, kind = null, key = null } = block;
			if (title !== undefined) entries.push({ line: index + 1, title, description, kind, key });
			block = null;
		}
	}
	return entries;
}

const annotations: ReadonlySet<string> = new Set(['title', 'description', 'kind', 'key']);

/** Parses an annotation line. Ignores the line if its name is not relevant. */
function annotation(line: string): Readonly<Record<string, string>> {
	const [, name = '', value = ''] = /^#\s+(\w+): (.+)$/.exec(line) ?? [];
	return annotations.has(name) ? { [name]: scalar(value) } : {};
}

/** Parses a YAML scalar in the generator's format: a JSON string or a bare word. */
function scalar(text: string): string {
	if (!text.startsWith('"')) return text;
	try {
		return String(JSON.parse(text));
	} catch {
		return text;
	}
}

/** Returns the policy part to which a file belongs: rules, lookup tables, or generated tests. */
export function policyPart(path: string): 'rules' | 'tables' | 'tests' {
	if (path.endsWith('.json')) return 'tables';
	return path.endsWith('_test.rego') ? 'tests' : 'rules';
}

const setFolders = {
	userset: 'regolith/user_sets/',
	resourceset: 'regolith/resource_sets/',
	grant: 'regolith/grants/',
} as const;

/** Returns the file for a condition set; `undefined` if the policy has no such file. */
export function conditionSetFile<File extends PolicyFile>(
	files: readonly File[],
	type: keyof typeof setFolders,
	key: string,
): File | undefined {
	const folder = setFolders[type];
	return files.find(
		({ path, text }) => path.startsWith(folder) && regoOutline(text).some((entry) => entry.key === key),
	);
}

/** File with differences between two policies. */
export interface ChangedFile {
	readonly path: string;
	/** Old text; `null` if the old policy does not contain the file. */
	readonly before: string | null;
	/** New text; `null` if the new policy does not contain the file. */
	readonly after: string | null;
	readonly added: number;
	readonly removed: number;
}

/** Maximum length of files whose changes are counted. Longer files are compared on demand. */
const maxCounted = 200_000;

/** Returns the changed files, sorted by path. For very long files, the counts are zero. */
export function changedFiles(before: readonly PolicyFile[], after: readonly PolicyFile[]): readonly ChangedFile[] {
	const old = new Map(before.map(({ path, text }) => [path, text]));
	const current = new Map(after.map(({ path, text }) => [path, text]));
	const paths = [...new Set([...old.keys(), ...current.keys()])].sort(compareText);
	return paths.flatMap((path) => {
		const [was, is] = [old.get(path) ?? null, current.get(path) ?? null];
		if (was === is) return [];
		const isLong = (was ?? '').length + (is ?? '').length > maxCounted;
		const counts = isLong ? { added: 0, removed: 0 } : diffCounts(diffLines(was ?? '', is ?? ''));
		return [{ path, before: was, after: is, ...counts }];
	});
}
