import { isJsonObject, type Json } from '../json.js';

/** Conditions as rows (docs/condition-semantics.md: Grammar), and these as JSON. Both hold the same. */

/** A part of conditions. */
export type ConditionNode = ConditionGroup | ConditionNot | ConditionComparison | ConditionRaw;

/** Parts of which all, or at least one, have to hold. */
export interface ConditionGroup {
	readonly kind: 'group';
	/** As it is written. */
	readonly word: 'allOf' | 'and' | 'anyOf' | 'or';
	readonly parts: readonly ConditionNode[];
}

/** A part that must not hold. */
export interface ConditionNot {
	readonly kind: 'not';
	readonly part: ConditionNode;
}

/** An attribute that is compared. Neither name needs to be known. */
export interface ConditionComparison {
	readonly kind: 'comparison';
	readonly attribute: string;
	readonly operator: string;
	/** A value, `{ref: …}` or `{match: …}`. */
	readonly operand: Json;
}

/** What rows cannot say, as it is written. */
export interface ConditionRaw {
	readonly kind: 'raw';
	readonly json: Json;
}

/** All of `conditions`; `null` for the empty object, which restricts nothing. */
export type ConditionTree = ConditionNode | null;

/** Where a part stands: the place in its group, for each level; `0` for what is negated. */
export type ConditionPath = readonly number[];

/** What the server says is wrong, and where. */
export interface ConditionProblem {
	readonly loc: readonly (string | number)[];
	readonly msg: string;
}

const words: ReadonlySet<string> = new Set(['allOf', 'and', 'anyOf', 'or']);

/** The server refuses what is nested deeper. */
const maxDepth = 100;

/** Reads conditions. What rows cannot say becomes a raw part: nothing is lost, and nothing is refused. */
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

/** Whether a name stands for logic, and so can be no attribute and no operator. */
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

/** Conditions as JSON. */
export function writeConditions(tree: ConditionTree): Json {
	return tree === null ? {} : writeNode(tree);
}

function writeNode(node: ConditionNode): Json {
	if (node.kind === 'raw') return node.json;
	if (node.kind === 'not') return { not: writeNode(node.part) };
	if (node.kind === 'group') return { [node.word]: node.parts.map(writeNode) };
	return { [node.attribute]: { [node.operator]: node.operand } };
}

/** The part at a path; `undefined` where there is none. */
export function conditionAt(tree: ConditionTree, path: ConditionPath): ConditionNode | undefined {
	return path.reduce<ConditionNode | undefined>(
		(node, index) => (node === undefined ? undefined : partsIn(node)[index]),
		tree ?? undefined,
	);
}

/**
 * The tree with another part at a path, or without that part for `null`. What is negated goes with its `not`. A path
 * that leads nowhere changes nothing.
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

/** The tree with a part more at the end of the group at a path. A root that is no group becomes one with it. */
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
 * The path of the part that a place is in, as text with dots; empty for the whole. A place is that of the server, from
 * `conditions` on: below the root of the body, or in the value of a draft.
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

/** What is wrong by the path of the part that it is wrong in, and what is wrong elsewhere under `null`. */
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
