/** Walks long lists in steps. */

import type { Steps } from '../../../compiler/steps.js';

/** Target time per chunk, in milliseconds. */
const wanted = 2;
/** Maximum number of items per chunk. */
const most = 500;

/** Number of items sorted or merged between two pauses. */
const stride = 1_000;
/** Number of strings sorted between two pauses. The runtime sorts strings faster, without a comparison function. */
const textStride = 5_000;

/**
 * Runs over a list in chunks that take about two milliseconds each, and pauses between the chunks. Suitable for items
 * that have similar costs and are cheaper to process in bulk. The first chunk has one item, which may already take
 * long.
 */
export function* forEachChunk<T>(
	list: readonly T[],
	run: (chunk: readonly T[]) => unknown,
	now = () => performance.now(),
): Steps<void> {
	let size = 1;
	for (let start = 0; start < list.length; ) {
		const began = now();
		run(list.slice(start, start + size));
		const took = now() - began;
		start += size;
		if (took > wanted) size = Math.max(1, size >> 1);
		else if (took < wanted / 2) size = Math.min(most, size * 2);
		yield;
	}
}

/** Returned by an item callback to end the iteration. */
export const enough = Symbol('enough');

/**
 * Runs over items separately, and pauses after each, because an item may take a thousand times longer than the items
 * before it. Ends early if `run` returns `enough`.
 */
export function* forEachItem<T>(items: Iterable<T>, run: (item: T) => unknown): Steps<void> {
	for (const item of items) {
		if (run(item) === enough) return;
		yield;
	}
}

/** Sorts items by the strings from `textFor`, in code unit order. The sort is stable. */
export function* sortedBy<T>(items: Iterable<T>, textFor: (item: T) => string): Steps<readonly T[]> {
	const runs: (readonly Row<T>[])[] = [];
	let run: Row<T>[] = [];
	for (const item of items) {
		run.push({ text: textFor(item), item });
		if (run.length < stride) continue;
		runs.push(run.sort(inOrder));
		run = [];
		yield;
	}
	runs.push(run.sort(inOrder));
	return (yield* mergedRuns(runs, inOrder)).map(({ item }) => item);
}

/** Sorts strings in code unit order, faster than `sortedBy`. */
export function* sortedTexts(texts: readonly string[]): Steps<readonly string[]> {
	const runs: (readonly string[])[] = [];
	for (let start = 0; start < texts.length; start += textStride) {
		runs.push(texts.slice(start, start + textStride).sort());
		yield;
	}
	return yield* mergedRuns(runs, (left, right) => (left < right ? -1 : left === right ? 0 : 1));
}

function* mergedRuns<T>(sorted: readonly (readonly T[])[], order: Order<T>): Steps<readonly T[]> {
	let runs = sorted;
	while (runs.length > 1) {
		const merged: (readonly T[])[] = [];
		for (let index = 0; index < runs.length; index += 2) {
			merged.push(yield* mergeRuns(runs[index] ?? [], runs[index + 1] ?? [], order));
		}
		runs = merged;
	}
	return runs[0] ?? [];
}

type Order<T> = (left: T, right: T) => number;

interface Row<T> {
	readonly text: string;
	readonly item: T;
}

function inOrder<T>(left: Row<T>, right: Row<T>): number {
	if (left.text === right.text) return 0;
	return left.text < right.text ? -1 : 1;
}

function* mergeRuns<T>(left: readonly T[], right: readonly T[], order: Order<T>): Steps<readonly T[]> {
	const merged: T[] = [];
	let [fromLeft, fromRight] = [0, 0];
	while (merged.length < left.length + right.length) {
		if (merged.length % stride === stride - 1) yield;
		const [one, other] = [left[fromLeft], right[fromRight]];
		if (one !== undefined && (other === undefined || order(one, other) <= 0)) {
			merged.push(one);
			fromLeft += 1;
		} else if (other !== undefined) {
			merged.push(other);
			fromRight += 1;
		}
	}
	return merged;
}
