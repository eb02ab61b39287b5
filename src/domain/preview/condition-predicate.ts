import jsonLogic from 'json-logic-js';
import type { Condition } from '../../../compiler/condition/condition.js';
import { operations, toJsonLogic } from '../../../compiler/condition/json-logic.js';
import type { Json } from '../../../compiler/model.js';
import { CompiledPatterns } from '../../pattern/compiled-patterns.js';
import { instanceName } from '../../wire/common.js';
import type { RelatedInstances, Subject } from './condition-subject.js';

/**
 * The regular expressions, the time and the related instances of the running predicate. They are global because the
 * library has a single operation table for the whole thread.
 */
let patterns = new CompiledPatterns();
let now = 0;
let related: RelatedInstances = new Map();

for (const [name, operation] of Object.entries(operations)) jsonLogic.add_operation(name, operation);
jsonLogic.add_operation('pattern_matches', (pattern, text) => patterns.matches(pattern, text));
jsonLogic.add_operation('now', () => now);
jsonLogic.add_operation('related', (type, keys) => relatedAttributes(String(type), keys, related));

/** Returns a predicate that is true if all conditions hold for a subject. */
export function conditionPredicate(conditions: readonly Condition[]): (subject: Subject) => boolean {
	const rules = conditions.map((condition) => toJsonLogic(condition) as jsonLogic.RulesLogic);
	const own = new CompiledPatterns();
	return (subject) => {
		patterns = own;
		now = subject.now;
		related = subject.related ?? new Map();
		return rules.every((rule) => jsonLogic.apply(rule, subject) === true);
	};
}

function relatedAttributes(type: string, keys: unknown, instances: RelatedInstances): readonly Json[] {
	const all: readonly unknown[] = Array.isArray(keys) ? keys : typeof keys === 'string' ? [keys] : [];
	return all.map((key) => instances.get(instanceName(type, String(key))) ?? {});
}
