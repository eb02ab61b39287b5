import jsonLogic from 'json-logic-js';
import type { Condition } from '../../compiler/condition/condition.js';
import { jsonLogicOf, operations } from '../../compiler/condition/logic.js';
import type { Subject } from './condition-subject.js';
import { matchesPattern } from './pattern.js';

/** Runs conditions over what the store holds. The library has one set of operations for the whole process. */
for (const [name, operation] of Object.entries(operations)) jsonLogic.add_operation(name, operation);
jsonLogic.add_operation('pattern_matches', matchesPattern);

/** What tells whether a condition holds for a subject. */
export function ruleOf(condition: Condition): (subject: Subject) => boolean {
	const rule = jsonLogicOf(condition) as Parameters<typeof jsonLogic.apply>[0];
	return (subject) => jsonLogic.apply(rule, subject) === true;
}
