/** Guesses what an unknown name was meant to be. */
import { operators } from './operator.js';

/** How logical operators are written, and what they are. */
export const logical: ReadonlyMap<string, 'all' | 'any' | 'not'> = new Map([
	['allOf', 'all'],
	['and', 'all'],
	['anyOf', 'any'],
	['or', 'any'],
	['not', 'not'],
]);

/** The logical operator meant by a name, by the name's letters in lower case. */
const logicalMeant = byName({
	allOf: ['allof', 'all', 'every', 'must'],
	and: ['and'],
	anyOf: ['anyof', 'any', 'oneof', 'some', 'should'],
	or: ['or'],
	not: ['not', 'mustnot'],
	'not` with `anyOf': ['none', 'noneof', 'nor'],
});

const symbols: ReadonlyMap<string, string> = new Map([
	['&&', 'and'],
	['||', 'or'],
	['!', 'not'],
]);

/** The operator meant by a name or a sign. */
const operatorMeant = byName({
	equals: ['eq', 'equal', 'is', '=', '==', '==='],
	'not-equals': ['ne', 'neq', 'isnot', '!=', '!==', '<>'],
	'greater-than': ['gt', 'after', '>'],
	'greater-than-equals': ['gte', 'ge', 'min', 'atleast', '>='],
	'less-than': ['lt', 'before', '<'],
	'less-than-equals': ['lte', 'le', 'max', 'atmost', '<='],
	'not-in': ['nin', 'noneof'],
	array_contains: ['includes', 'has'],
	'starts-with': ['prefix'],
	'ends-with': ['suffix'],
	matches: ['regex', 'regexp', 'like'],
	'is-null': ['exists', 'missing', 'null', 'isempty'],
});

/** What is meant, by each name that means it. */
function byName(names: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
	return new Map(Object.entries(names).flatMap(([meant, all]) => all.map((name) => [name, meant] as const)));
}

/** The logical operator that a name resembles, in backquotes; `undefined` when it resembles none. */
export function logicalHint(name: string): string | undefined {
	const meant = logicalMeant.get(letters(name)) ?? symbols.get(name);
	return meant && `\`${meant}\``;
}

/** The operator that a name resembles most, in backquotes. */
export function operatorHint(name: string): string {
	const meant = operatorMeant.get(name) ?? operatorMeant.get(letters(name)) ?? nearest(name);
	return `\`${meant}\``;
}

function nearest(name: string): string {
	const short = letters(name.slice(0, maxNameLength));
	const distances = operators
		.flatMap((operator) => [operator.name, ...operator.aliases])
		.map((known) => ({ known, distance: distance(short, letters(known)) }));
	return distances.reduce((best, next) => (next.distance < best.distance ? next : best)).known;
}

/** Longer names are cut before they are compared, in characters. */
const maxNameLength = 40;

function letters(name: string): string {
	return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** The Levenshtein distance: how many letters to insert, delete or replace to turn one word into the other. */
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
