/**
 * Pairs of names with a key (such as who holds which role where), found from both ends and stored compactly. A pair may
 * expire.
 */

import type { Steps } from '../../../compiler/steps.js';
import { sortedBy } from '../engine/chunks.js';
import type { InternedStrings } from './interned-strings.js';

/** The other end of a link, and its key. */
export type Link = readonly [name: string, key: string];

/** The cells of one link: its two ends, its key, and its neighbours in the two lists of links with the same end. */
const cells = {
	left: 0,
	right: 1,
	key: 2,
	nextOfLeft: 3,
	previousOfLeft: 4,
	nextOfRight: 5,
	previousOfRight: 6,
} as const;
const width = 7;
type Cell = (typeof cells)[keyof typeof cells];

/** The two lists that a link is in. */
const ofLeft = { end: cells.left, next: cells.nextOfLeft, previous: cells.previousOfLeft } as const;
const ofRight = { end: cells.right, next: cells.nextOfRight, previous: cells.previousOfRight } as const;
type List = typeof ofLeft | typeof ofRight;

/** No link. */
const none = -1;

/** The expiry of links that hold for good. */
const never = Number.POSITIVE_INFINITY;

/**
 * Links from names on the left to names on the right. Adding an existing link changes its expiry alone, and removing a
 * missing one nothing. Half a million links take about 15 MB and no time of the garbage collector: they are numbers in
 * one array, chained into a list for each name on either side. Finding one link costs as much as the shorter of its two
 * lists.
 */
export class Links {
	readonly #names: InternedStrings;
	#cells = new Int32Array(1024 * width);
	/** The expiries of links by their number, once any link has one. */
	#expiries: Float64Array | undefined;
	#count = 0;
	/** Removed links, whose cells can be reused. */
	#free: number[] = [];
	#firstOfLeft = new Int32Array(1024).fill(none);
	#firstOfRight = new Int32Array(1024).fill(none);
	#leftNames: readonly string[] | undefined;
	/** The link that was added last. Tables come in order, so the next one shares some of its names. */
	#last = none;

	/** @param names numbers the names; other links may share it. */
	constructor(names: InternedStrings) {
		this.#names = names;
	}

	/** Becomes a copy of other links, whose names are a copy too. Nobody may change those meanwhile. */
	*copyingFrom(other: Links): Steps<void> {
		for (const copy of [
			() => (this.#cells = other.#cells.slice()),
			() => (this.#firstOfLeft = other.#firstOfLeft.slice()),
			() => (this.#firstOfRight = other.#firstOfRight.slice()),
			() => (this.#free = other.#free.slice()),
			() => (this.#expiries = other.#expiries?.slice()),
		]) {
			copy();
			yield;
		}
		this.#count = other.#count;
		this.#leftNames = other.#leftNames;
		this.#last = other.#last;
	}

	/**
	 * The links of a name on the left that hold at `time`, in milliseconds since 1970. The iterator becomes invalid when a
	 * link is added or removed.
	 */
	from(left: string, time: number): Iterable<Link> {
		return this.#linked(ofLeft, left, time);
	}

	/** The links of a name on the right that hold at `time`, as `from`. */
	to(right: string, time: number): Iterable<Link> {
		return this.#linked(ofRight, right, time);
	}

	/** All links of a name on the left, expired ones among them, as `from`. */
	everFrom(left: string): Iterable<Link> {
		return this.#linked(ofLeft, left, Number.NEGATIVE_INFINITY);
	}

	/** All links of a name on the left, expired ones among them, as `from`, each with its expiry; `null` for good. */
	*expiringFrom(left: string): Iterable<readonly [...link: Link, until: number | null]> {
		const expiries = this.#expiries;
		for (const link of this.#chained(ofLeft, this.#names.number(left))) {
			const until = expiries?.[link] ?? never;
			const [name, key] = [this.#get(link, cells.right), this.#get(link, cells.key)];
			yield [this.#names.text(name), this.#names.text(key), until === never ? null : until];
		}
	}

	/** All names on the left that have links, expired ones among them, sorted by code unit. Cached until a name is added or removed. */
	*sortedLeftNames(): Steps<readonly string[]> {
		const known = this.#leftNames;
		if (known !== undefined) return known;
		const names = yield* sortedBy(this.#ends(ofLeft), (number) => this.#names.text(number));
		this.#leftNames = names.map((number) => this.#names.text(number));
		return this.#leftNames;
	}

	/** Adds a link, which holds for good unless it has an expiry, in milliseconds since 1970. */
	add(left: string, right: string, key: string, until: number | null = null): void {
		const names = this.#names;
		const leftNumber = names.use(left, this.#get(this.#last, cells.left));
		const rightNumber = names.use(right, this.#get(this.#last, cells.right));
		const keyNumber = names.use(key, this.#get(this.#last, cells.key));
		const known = this.#find(leftNumber, rightNumber, keyNumber);
		if (known !== none) {
			this.#expire(known, until);
			for (const number of [leftNumber, rightNumber, keyNumber]) names.release(number);
			return;
		}
		const link = this.#free.pop() ?? this.#count++;
		this.#last = link;
		if ((link + 1) * width > this.#cells.length) this.#cells = doubled(this.#cells);
		this.#set(link, cells.left, leftNumber);
		this.#set(link, cells.right, rightNumber);
		this.#set(link, cells.key, keyNumber);
		while (this.#firstOfLeft.length < names.size) this.#firstOfLeft = doubled(this.#firstOfLeft);
		while (this.#firstOfRight.length < names.size) this.#firstOfRight = doubled(this.#firstOfRight);
		this.#chain(link, ofLeft);
		this.#chain(link, ofRight);
		this.#expire(link, until);
	}

	/** Removes all links with these ends and this key; `undefined` matches anything. */
	clear(left: string | undefined, right: string | undefined, key: string | undefined): void {
		const number = key === undefined ? undefined : this.#names.number(key);
		if (key !== undefined && number === undefined) return;
		for (const link of [...this.#candidates(left, right)]) {
			if (number === undefined || this.#get(link, cells.key) === number) this.#remove(link);
		}
	}

	*#linked(list: List, name: string, time: number): Iterable<Link> {
		const other = list === ofLeft ? cells.right : cells.left;
		const expiries = this.#expiries;
		for (const link of this.#chained(list, this.#names.number(name))) {
			if (expiries !== undefined && (expiries[link] ?? never) <= time) continue;
			yield [this.#names.text(this.#get(link, other)), this.#names.text(this.#get(link, cells.key))];
		}
	}

	/** The links with these ends, found the shortest way. */
	*#candidates(left: string | undefined, right: string | undefined): Iterable<number> {
		if (left !== undefined && right !== undefined) {
			yield* this.#between(this.#names.number(left), this.#names.number(right));
		} else if (left !== undefined) yield* this.#chained(ofLeft, this.#names.number(left));
		else if (right !== undefined) yield* this.#chained(ofRight, this.#names.number(right));
		else for (const number of this.#ends(ofLeft)) yield* this.#chained(ofLeft, number);
	}

	#find(left: number, right: number, key: number): number {
		let one = this.#first(ofLeft, left);
		let other = this.#first(ofRight, right);
		// Follows both lists at once, until the shorter one ends.
		while (one !== none && other !== none) {
			if (this.#get(one, cells.right) === right && this.#get(one, cells.key) === key) return one;
			if (this.#get(other, cells.left) === left && this.#get(other, cells.key) === key) return other;
			one = this.#get(one, cells.nextOfLeft);
			other = this.#get(other, cells.nextOfRight);
		}
		return none;
	}

	/** Sets when a link expires. */
	#expire(link: number, until: number | null): void {
		if (until === null && this.#expiries === undefined) return;
		let expiries = this.#expiries ?? new Float64Array(this.#count).fill(never);
		if (link >= expiries.length) {
			const longer = new Float64Array(Math.max(link + 1, expiries.length * 2)).fill(never, expiries.length);
			longer.set(expiries);
			expiries = longer;
		}
		expiries[link] = until ?? never;
		this.#expiries = expiries;
	}

	/** The links between two names, found in the same way as by `#has`. */
	#between(left: number | undefined, right: number | undefined): readonly number[] {
		if (left === undefined || right === undefined) return [];
		const inLeft: number[] = [];
		const inRight: number[] = [];
		let one = this.#first(ofLeft, left);
		let other = this.#first(ofRight, right);
		while (one !== none && other !== none) {
			if (this.#get(one, cells.right) === right) inLeft.push(one);
			if (this.#get(other, cells.left) === left) inRight.push(other);
			one = this.#get(one, cells.nextOfLeft);
			other = this.#get(other, cells.nextOfRight);
		}
		return one === none ? inLeft : inRight;
	}

	*#chained(list: List, name: number | undefined): Iterable<number> {
		if (name === undefined) return;
		for (let link = this.#first(list, name); link !== none; link = this.#get(link, list.next)) yield link;
	}

	/** The numbers of all names that have links on one side. */
	*#ends(list: List): Iterable<number> {
		for (let number = 0; number < this.#names.size; number += 1) {
			if (this.#first(list, number) !== none) yield number;
		}
	}

	/** Puts a link at the head of one of its lists. */
	#chain(link: number, list: List): void {
		const end = this.#get(link, list.end);
		const next = this.#first(list, end);
		if (next === none) this.#leftNames = undefined;
		else this.#set(next, list.previous, link);
		this.#set(link, list.next, next);
		this.#set(link, list.previous, none);
		this.#setFirst(list, end, link);
	}

	#unchain(link: number, list: List): void {
		const end = this.#get(link, list.end);
		const next = this.#get(link, list.next);
		const previous = this.#get(link, list.previous);
		if (next !== none) this.#set(next, list.previous, previous);
		if (previous !== none) this.#set(previous, list.next, next);
		else this.#setFirst(list, end, next);
		if (next === none && previous === none) this.#leftNames = undefined;
	}

	#remove(link: number): void {
		this.#unchain(link, ofLeft);
		this.#unchain(link, ofRight);
		for (const cell of [cells.left, cells.right, cells.key]) this.#names.release(this.#get(link, cell));
		this.#free.push(link);
	}

	#first(list: List, name: number): number {
		return (list === ofLeft ? this.#firstOfLeft : this.#firstOfRight)[name] ?? none;
	}

	#setFirst(list: List, name: number, link: number): void {
		(list === ofLeft ? this.#firstOfLeft : this.#firstOfRight)[name] = link;
	}

	#get(link: number, cell: Cell): number {
		return this.#cells[link * width + cell] ?? none;
	}

	#set(link: number, cell: Cell, value: number): void {
		this.#cells[link * width + cell] = value;
	}
}

/** Doubles an array. The new half holds no links. */
function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
	const longer = new Int32Array(array.length * 2).fill(none, array.length);
	longer.set(array);
	return longer;
}
