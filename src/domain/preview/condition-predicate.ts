import jsonLogic from 'json-logic-js';
import type { Condition } from '../../../compiler/condition/condition.js';
import { operations, toJsonLogic } from '../../../compiler/condition/json-logic.js';
import { CompiledPatterns } from '../../pattern/compiled-patterns.js';
import type { Subject } from './condition-subject.js';

/**
 * The regular expressions of the running predicate. They are global because the library has a single operation table
 * for the whole thread.
 */
let patterns = new CompiledPatterns();

for (const [name, operation] of Object.entries(operations)) jsonLogic.add_operation(name, operation);
jsonLogic.add_operation('pattern_matches', (pattern, text) => patterns.matches(pattern, text));

/** Returns a predicate that is true if all conditions hold for a subject. */
export function conditionPredicate(conditions: readonly Condition[]): (subject: Subject) => boolean {
	const rules = conditions.map((condition) => toJsonLogic(condition) as jsonLogic.RulesLogic);
	const own = new CompiledPatterns();
	return (subject) => {
		patterns = own;
		return rules.every((rule) => jsonLogic.apply(rule, subject) === true);
	};
}
