/** What somebody may have meant by a name that means nothing here. */
import { operators } from './operator.js';

/** How logical operators are written, and what they are. */
export const logical: ReadonlyMap<string, 'all' | 'any' | 'not'> = new Map([
	['allOf', 'all'],
	['and', 'all'],
	['anyOf', 'any'],
	['or', 'any'],
	['not', 'not'],
]);

/** By the letters of a name in lower case. */
const logicalMeant: ReadonlyMap<string, string> = new Map([
	...['allof', 'all', 'every', 'must'].map((name) => [name, 'allOf'] as const),
	['and', 'and'],
	...['anyof', 'any', 'oneof', 'some', 'should'].map((name) => [name, 'anyOf'] as const),
	['or', 'or'],
	...['not', 'mustnot'].map((name) => [name, 'not'] as const),
	...['none', 'noneof', 'nor'].map((name) => [name, 'not` with `anyOf'] as const),
]);

const symbols: ReadonlyMap<string, string> = new Map([
	['&&', 'and'],
	['||', 'or'],
	['!', 'not'],
]);

const operatorMeant: ReadonlyMap<string, string> = new Map([
	...['eq', 'equal', 'is', '=', '==', '==='].map((name) => [name, 'equals'] as const),
	...['ne', 'neq', 'isnot', '!=', '!==', '<>'].map((name) => [name, 'not-equals'] as const),
	...['gt', 'after', '>'].map((name) => [name, 'greater-than'] as const),
	...['gte', 'ge', 'min', 'atleast', '>='].map((name) => [name, 'greater-than-equals'] as const),
	...['lt', 'before', '<'].map((name) => [name, 'less-than'] as const),
	...['lte', 'le', 'max', 'atmost', '<='].map((name) => [name, 'less-than-equals'] as const),
	...['nin', 'noneof'].map((name) => [name, 'not-in'] as const),
	...['includes', 'has'].map((name) => [name, 'array_contains'] as const),
	...['prefix'].map((name) => [name, 'starts-with'] as const),
	...['suffix'].map((name) => [name, 'ends-with'] as const),
	...['regex', 'regexp', 'like'].map((name) => [name, 'matches'] as const),
	...['exists', 'missing', 'null', 'isempty'].map((name) => [name, 'is-null'] as const),
]);

/** A logical operator that a name resembles, between backquotes; `undefined` when it resembles none. */
export function logicalHint(name: string): string | undefined {
	const meant = logicalMeant.get(letters(name)) ?? symbols.get(name);
	return meant && `\`${meant}\``;
}

/** Of the operators, the one that a name resembles most, between backquotes. */
export function operatorHint(name: string): string {
	const meant = operatorMeant.get(name) ?? operatorMeant.get(letters(name)) ?? nearest(name);
	return `\`${meant}\``;
}

function nearest(name: string): string {
	const short = letters(name.slice(0, longestName));
	const distances = operators
		.flatMap((operator) => [operator.name, ...operator.aliases])
		.map((known) => ({ known, distance: distance(short, letters(known)) }));
	return distances.reduce((best, next) => (next.distance < best.distance ? next : best)).known;
}

/** Longer names resemble nothing. */
const longestName = 40;

function letters(name: string): string {
	return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** How many letters have to be put in, left out or replaced to make one word of the other. */
function distance(left: string, right: string): number {
	let row = Array.from({ length: right.length + 1 }, (_, index) => index);
	for (const [above, letter] of [...left].entries()) {
		const next = [above + 1];
		for (const [index, other] of [...right].entries()) {
			const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
			next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
		}
		row = next;
	}
	return row[right.length] ?? 0;
}
