/** Guesses the intended name behind an unknown name. */
import { distance } from 'fastest-levenshtein';
import { operators } from '../operator.js';

/** Spellings for logical operators. */
export const logical: ReadonlyMap<string, 'all' | 'any' | 'not'> = new Map([
	['allOf', 'all'],
	['and', 'all'],
	['anyOf', 'any'],
	['or', 'any'],
	['not', 'not'],
]);

/** Maps a name's lowercase letters to the intended logical operator. */
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

/** Maps a name or a sign to the intended operator. */
const operatorMeant = byName({
	equals: ['eq', 'equal', 'is', '=', '==', '==='],
	'not-equals': ['ne', 'neq', 'isnot', '!=', '!==', '<>'],
	'greater-than': ['gt', 'after', '>'],
	'greater-than-equals': ['gte', 'ge', 'min', 'atleast', '>='],
	'less-than': ['lt', 'before', '<'],
	'less-than-equals': ['lte', 'le', 'max', 'atmost', '<='],
	'not-in': ['nin', 'noneof'],
	'in-cidr': ['cidr', 'iprange', 'inrange', 'inips'],
	'within-last': ['within', 'newerthan', 'since', 'inlast'],
	'older-than': ['olderthan', 'ago'],
	array_contains: ['includes', 'has'],
	'starts-with': ['prefix'],
	'ends-with': ['suffix'],
	matches: ['regex', 'regexp', 'like'],
	'is-null': ['exists', 'missing', 'null', 'isempty'],
});

/** Inverts the table: maps each alternative name to its operator. */
function byName(names: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
	return new Map(Object.entries(names).flatMap(([meant, all]) => all.map((name) => [name, meant] as const)));
}

/** Returns the logical operator that a name resembles, in backquotes; `undefined` if there is none. */
export function logicalHint(name: string): string | undefined {
	const meant = logicalMeant.get(letters(name)) ?? symbols.get(name);
	return meant && `\`${meant}\``;
}

/** Returns the operator most similar to a name, in backquotes. */
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

/** Number of characters to compare. Longer names are truncated. */
const maxNameLength = 40;

function letters(name: string): string {
	return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}
