import { isJsonObject, type Json } from '../json.js';

/** Conditions as rows (docs/policy/condition-semantics.md: Grammar). Converts them to and from JSON without loss. */

export type ConditionNode = ConditionGroup | ConditionNot | ConditionComparison | ConditionRaw;

/** Group in which all parts, or at least one part, must hold. */
export interface ConditionGroup {
	readonly kind: 'group';
	/** The word as written in the JSON. */
	readonly word: 'allOf' | 'and' | 'anyOf' | 'or';
	readonly parts: readonly ConditionNode[];
}

/** A negated part. */
export interface ConditionNot {
	readonly kind: 'not';
	readonly part: ConditionNode;
}

/** Comparison between an attribute and an operand. The attribute and the operator may be unknown. */
export interface ConditionComparison {
	readonly kind: 'comparison';
	readonly attribute: string;
	readonly operator: string;
	/** A value, `{ref: …}` or `{match: …}`. */
	readonly operand: Json;
}

/** JSON that rows cannot express. It is kept as written. */
export interface ConditionRaw {
	readonly kind: 'raw';
	readonly json: Json;
}

/** A whole `conditions` value. `null` is the empty object, which restricts nothing. */
export type ConditionTree = ConditionNode | null;

/** Path to a part. Each step is an index in a group, or `0` for a negated part. */
export type ConditionPath = readonly number[];

/** Problem reported by the server, with its location. */
export interface ConditionProblem {
	readonly loc: readonly (string | number)[];
	readonly msg: string;
}

const words: ReadonlySet<string> = new Set(['allOf', 'and', 'anyOf', 'or']);

/** Maximum nesting depth. The server rejects deeper nesting. */
const maxDepth = 100;

/** Reads conditions. JSON that rows cannot express becomes a raw part, so nothing is lost or rejected. */
export function readConditions(json: Json): ConditionTree {
	return isJsonObject(json) && Object.keys(json).length === 0 ? null : readNode(json, 0);
}

function readNode(json: Json, depth: number): ConditionNode {
	const member = onlyMember(json);
	if (member === null || depth > maxDepth) return { kind: 'raw', json };
	const [name, value] = member;
	if (isGroupWord(name)) {
		if (!Array.isArray(value)) return { kind: 'raw', json };
		return { kind: 'group', word: name, parts: value.map((part: Json) => readNode(part, depth + 1)) };
	}
	if (name === 'not') return { kind: 'not', part: readNode(value, depth + 1) };
	const comparison = onlyMember(value);
	if (comparison === null || isLogical(comparison[0])) return { kind: 'raw', json };
	return { kind: 'comparison', attribute: name, operator: comparison[0], operand: comparison[1] };
}

/** True for logical words. Attributes and operators cannot have these names. */
export function isLogical(name: string): boolean {
	return name === 'not' || words.has(name);
}

function isGroupWord(name: string): name is ConditionGroup['word'] {
	return words.has(name);
}

function onlyMember(json: Json): readonly [string, Json] | null {
	if (!isJsonObject(json)) return null;
	const [member, ...others] = Object.entries(json);
	return member === undefined || others.length > 0 ? null : member;
}

/** Converts a tree to JSON. */
export function writeConditions(tree: ConditionTree): Json {
	return tree === null ? {} : writeNode(tree);
}

function writeNode(node: ConditionNode): Json {
	if (node.kind === 'raw') return node.json;
	if (node.kind === 'not') return { not: writeNode(node.part) };
	if (node.kind === 'group') return { [node.word]: node.parts.map(writeNode) };
	return { [node.attribute]: { [node.operator]: node.operand } };
}

/** Returns the part at a path; `undefined` if there is no such part. */
export function conditionAt(tree: ConditionTree, path: ConditionPath): ConditionNode | undefined {
	return path.reduce<ConditionNode | undefined>(
		(node, index) => (node === undefined ? undefined : partsIn(node)[index]),
		tree ?? undefined,
	);
}

/**
 * Replaces the part at a path, or removes it if `node` is `null`. Removing a negated part also removes its `not`. If
 * the path is invalid, nothing changes.
 */
export function replaceCondition(tree: ConditionTree, path: ConditionPath, node: ConditionNode | null): ConditionTree {
	const [index, ...below] = path;
	if (index === undefined) return node;
	const old = tree === null ? undefined : partsIn(tree)[index];
	if (tree === null || old === undefined) return tree;
	const part = replaceCondition(old, below, node);
	if (tree.kind === 'not') return part === null ? null : { kind: 'not', part };
	if (tree.kind !== 'group') return tree;
	return { ...tree, parts: part === null ? tree.parts.toSpliced(index, 1) : tree.parts.with(index, part) };
}

/** Appends a part to the group at a path. If the root is not a group, it becomes a group first. */
export function addCondition(tree: ConditionTree, path: ConditionPath, added: ConditionNode): ConditionTree {
	const node = conditionAt(tree, path);
	if (node === undefined) return added;
	const group: ConditionGroup = node.kind === 'group' ? node : { kind: 'group', word: 'allOf', parts: [node] };
	return replaceCondition(tree, path, { ...group, parts: [...group.parts, added] });
}

function partsIn(node: ConditionNode): readonly ConditionNode[] {
	if (node.kind === 'group') return node.parts;
	return node.kind === 'not' ? [node.part] : [];
}

/**
 * Returns the path of the part that contains a location reported by the server. The path consists of indexes separated
 * by dots. It is empty for the root, and `null` for locations outside the conditions. Locations start at `conditions`,
 * either below the request body or in a draft value.
 */
export function problemPath(tree: ConditionTree, loc: readonly (string | number)[]): string | null {
	const start = loc.indexOf('conditions');
	if (start === -1) return null;
	const path: number[] = [];
	let node = tree;
	let rest = loc.slice(start + 1);
	while (node !== null) {
		const [first, second] = rest;
		if (node.kind === 'not' && first === 'not') {
			path.push(0);
			node = node.part;
			rest = rest.slice(1);
		} else if (node.kind === 'group' && first === node.word && typeof second === 'number') {
			const part = node.parts[second];
			if (part === undefined) break;
			path.push(second);
			node = part;
			rest = rest.slice(2);
		} else break;
	}
	return path.join('.');
}

/** Groups problems by the path to the affected part. Problems that affect no part have the key `null`. */
export function problemsByPath(
	tree: ConditionTree,
	problems: readonly ConditionProblem[],
): ReadonlyMap<string | null, readonly string[]> {
	const found = new Map<string | null, readonly string[]>();
	for (const { loc, msg } of problems) {
		const path = problemPath(tree, loc);
		found.set(path, [...(found.get(path) ?? []), msg]);
	}
	return found;
}
