import jsonLogic from 'json-logic-js';
import type { Condition } from '../../../compiler/condition/condition.js';
import { operations, toJsonLogic } from '../../../compiler/condition/json-logic.js';
import { matchesPattern } from '../pattern.js';
import type { Subject } from './condition-subject.js';

/** Evaluates conditions on stored objects. The library has one table of operations for the whole process. */
for (const [name, operation] of Object.entries(operations)) jsonLogic.add_operation(name, operation);
jsonLogic.add_operation('pattern_matches', matchesPattern);

/** The predicate that tells whether a condition holds for a subject. */
export function conditionPredicate(condition: Condition): (subject: Subject) => boolean {
	const rule = toJsonLogic(condition) as Parameters<typeof jsonLogic.apply>[0];
	return (subject) => jsonLogic.apply(rule, subject) === true;
}
