import { diffCounts, diffLines } from './line-diff.js';

/** The files of a policy, for people: a tree, an outline of each file, and what differs between two policies. */

/** A file of a policy: its path with slashes, and its text. */
export interface PolicyFile {
	readonly path: string;
	readonly text: string;
}

/** A folder of a policy, or a file in it. */
export type PolicyNode = PolicyFolder | PolicyLeaf;

export interface PolicyFolder {
	readonly kind: 'folder';
	readonly name: string;
	readonly path: string;
	readonly nodes: readonly PolicyNode[];
	/** How many files are in it and below. */
	readonly count: number;
}

export interface PolicyLeaf {
	readonly kind: 'file';
	/** With the names of folders that hold nothing else. */
	readonly name: string;
	readonly path: string;
	/** What the schema calls the object that the file stands for; `null` where it stands for none. */
	readonly title: string | null;
}

/** Files as a tree: folders first, by name. Folders that hold one file alone are part of its name. */
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

/** The title of the first METADATA block; `null` without one. */
function fileTitle(text: string): string | null {
	const found = /^# METADATA\n(?:#.*\n)*?# title: (.*)$/m.exec(text)?.[1];
	return found === undefined ? null : scalar(found);
}

/** An annotated part of a file of Rego. */
export interface OutlineEntry {
	/** The line of what is annotated, from 1. */
	readonly line: number;
	readonly title: string;
	readonly description: string | null;
	/** What the object is in the schema, such as `action`; `null` where it is none. */
	readonly kind: string | null;
	/** The key of that object. */
	readonly key: string | null;
}

/** The METADATA blocks of a file of Rego, each at the line that it is about. Those without a title are left out. */
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

/** What a line of a block says, if it is of interest. */
function annotation(line: string): Readonly<Record<string, string>> {
	const [, name = '', value = ''] = /^#\s+(\w+): (.+)$/.exec(line) ?? [];
	return annotations.has(name) ? { [name]: scalar(value) } : {};
}

/** A scalar of YAML as the generator writes it: a string literal of JSON, or a bare word. */
function scalar(text: string): string {
	if (!text.startsWith('"')) return text;
	try {
		return String(JSON.parse(text));
	} catch {
		return text;
	}
}

/** What part of a policy a file is: rules, tables that rules look things up in, or generated tests of both. */
export function policyPart(path: string): 'rules' | 'tables' | 'tests' {
	if (path.endsWith('.json')) return 'tables';
	return path.endsWith('_test.rego') ? 'tests' : 'rules';
}

/** The file of a condition set; `undefined` where a policy has none. */
export function conditionSetFile<File extends PolicyFile>(
	files: readonly File[],
	type: 'userset' | 'resourceset',
	key: string,
): File | undefined {
	const folder = type === 'userset' ? 'regolith/user_sets/' : 'regolith/resource_sets/';
	return files.find(
		({ path, text }) => path.startsWith(folder) && regoOutline(text).some((entry) => entry.key === key),
	);
}

/** A file that differs between two policies. */
export interface ChangedFile {
	readonly path: string;
	/** `null` where the policy before did not have the file. */
	readonly before: string | null;
	/** `null` where the policy after does not have it. */
	readonly after: string | null;
	readonly added: number;
	readonly removed: number;
}

/** Longer files are compared when somebody looks at them, not before. */
const maxCounted = 200_000;

/** The files that differ, by path. Lines of very long files are not counted: they have zero of both. */
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
