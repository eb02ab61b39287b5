/**
 * Stores pairs of names with a key, such as user, instance and role, in a compact form. A pair can be found from both
 * ends, and may expire.
 */

import type { Steps } from '../../../compiler/steps.js';
import { sortedBy } from '../engine/chunks.js';
import type { InternedStrings } from './interned-strings.js';

/** The far end of a link, and its key. */
export type Link = readonly [name: string, key: string];

/** A link by the numbers of its names. */
export type NumberedLink = readonly [name: number, key: number];

/** Receives an expiry, in milliseconds since 1970. */
export type NoteExpiry = (until: number) => void;

/**
 * Cells of a link: both ends, the key, and the link's neighbors in two lists. All links in a list have the same end.
 */
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

/** The two lists that contain each link. */
const ofLeft = { end: cells.left, next: cells.nextOfLeft, previous: cells.previousOfLeft } as const;
const ofRight = { end: cells.right, next: cells.nextOfRight, previous: cells.previousOfRight } as const;
type List = typeof ofLeft | typeof ofRight;

const none = -1;

/** Expiry for links that do not expire. */
const never = Number.POSITIVE_INFINITY;

/**
 * Links from names on the left to names on the right. Adding an existing link only changes its expiry, and removing a
 * missing link does nothing. Half a million links take about 15 MB and cost the garbage collector no time, because they
 * are numbers in a single array. The links are chained into a list per name and side. The time to find a link is
 * proportional to the length of the shorter of its two lists.
 */
export class Links {
	readonly #names: InternedStrings;
	#cells = new Int32Array(1024 * width);
	/** Expiries, indexed by link number. Allocated when the first link with an expiry is added. */
	#expiries: Float64Array | undefined;
	#count = 0;
	/** Numbers of removed links, whose cells can be reused. */
	#free: number[] = [];
	#firstOfLeft = new Int32Array(1024).fill(none);
	#firstOfRight = new Int32Array(1024).fill(none);
	#leftNames: readonly string[] | undefined;
	/** Last added link. Tables are read in order, so the next link often shares some of its names. */
	#last = none;

	/** @param names interns the names; may be shared with other links. */
	constructor(names: InternedStrings) {
		this.#names = names;
	}

	/**
	 * Makes this object a copy of `other`, which must not change while it is copied. The names must already be a copy of
	 * the names in `other`.
	 */
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
	 * Yields a left name's links that are valid at `time`, in milliseconds since 1970. The iterator becomes invalid when a
	 * link is added or removed.
	 */
	from(left: string, time: number): Iterable<Link> {
		return this.#linked(ofLeft, left, time);
	}

	/** Yields a right name's links that are valid at `time`. See `from`. */
	to(right: string, time: number): Iterable<Link> {
		return this.#linked(ofRight, right, time);
	}

	/** Yields all links from a left name, including expired links. See `from`. */
	everFrom(left: string): Iterable<Link> {
		return this.#linked(ofLeft, left, Number.NEGATIVE_INFINITY);
	}

	/**
	 * Yields all links from a left name with their expiries, including expired links. The expiry is `null` for links that
	 * do not expire. See `from`.
	 */
	*expiringFrom(left: string): Iterable<readonly [...link: Link, until: number | null]> {
		const expiries = this.#expiries;
		for (const link of this.#chained(ofLeft, this.#names.number(left))) {
			const until = expiries?.[link] ?? never;
			const [name, key] = [this.#get(link, cells.right), this.#get(link, cells.key)];
			yield [this.#names.text(name), this.#names.text(key), until === never ? null : until];
		}
	}

	/**
	 * Returns all left names with links, including expired links, sorted by code unit. The result is cached until a name
	 * is added or removed.
	 */
	*sortedLeftNames(): Steps<readonly string[]> {
		const known = this.#leftNames;
		if (known !== undefined) return known;
		const names = yield* sortedBy(this.#ends(ofLeft), (number) => this.#names.text(number));
		this.#leftNames = names.map((number) => this.#names.text(number));
		return this.#leftNames;
	}

	/** Adds a link. `until` is its expiry in milliseconds since 1970; `null` if the link does not expire. */
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

	/** Like `from`, but for the numbers of the names. `note` is called with the expiry of each link that has one. */
	numbersFrom(left: number, time: number, note?: NoteExpiry): Iterable<NumberedLink> {
		return this.#numbered(ofLeft, left, time, note);
	}

	/** Like `to`, but for the numbers of the names. `note` as for `numbersFrom`. */
	numbersTo(right: number, time: number, note?: NoteExpiry): Iterable<NumberedLink> {
		return this.#numbered(ofRight, right, time, note);
	}

	*#linked(list: List, name: string, time: number): Iterable<Link> {
		for (const [other, key] of this.#numbered(list, this.#names.number(name), time)) {
			yield [this.#names.text(other), this.#names.text(key)];
		}
	}

	*#numbered(list: List, name: number | undefined, time: number, note?: NoteExpiry): Iterable<NumberedLink> {
		const other = list === ofLeft ? cells.right : cells.left;
		const expiries = this.#expiries;
		for (const link of this.#chained(list, name)) {
			const until = expiries?.[link] ?? never;
			if (until <= time) continue;
			if (until !== never) note?.(until);
			yield [this.#get(link, other), this.#get(link, cells.key)];
		}
	}

	/** Finds the links with these ends, using the cheapest lookup. */
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
		// Follows both lists in parallel until the shorter list ends.
		while (one !== none && other !== none) {
			if (this.#get(one, cells.right) === right && this.#get(one, cells.key) === key) return one;
			if (this.#get(other, cells.left) === left && this.#get(other, cells.key) === key) return other;
			one = this.#get(one, cells.nextOfLeft);
			other = this.#get(other, cells.nextOfRight);
		}
		return none;
	}

	/** Sets a link's expiry. */
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

	/** Returns the links between two names. Follows both lists in parallel, like `#find`. */
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

	/** Yields the numbers of all names with links on the given side. */
	*#ends(list: List): Iterable<number> {
		for (let number = 0; number < this.#names.size; number += 1) {
			if (this.#first(list, number) !== none) yield number;
		}
	}

	/** Inserts a link at the head of a list. */
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

/** Doubles an array. The new half contains no links. */
function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
	const longer = new Int32Array(array.length * 2).fill(none, array.length);
	longer.set(array);
	return longer;
}
