import type { Relation } from '../predicate.js';
import { code, type SqlText } from './sql-text.js';

const signs: Readonly<Record<Relation, SqlText>> = {
	eq: code('='),
	ne: code('<>'),
	lt: code('<'),
	le: code('<='),
	gt: code('>'),
	ge: code('>='),
};

export function relationSign(relation: Relation): SqlText {
	return signs[relation];
}
