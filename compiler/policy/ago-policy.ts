/** Rego for the durations in conditions. */
import type { Condition } from '../condition/condition.js';
import { durationLength } from '../condition/duration.js';
import { attributesIn, durationsIn, parseConditions } from '../condition/parse/grammar.js';
import type { ConditionSet, GrantCondition, RegoFile } from '../model.js';
import { canonical } from '../order.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { parseGrantCondition } from './grant-conditions.js';
import { metadata } from './metadata.js';
import { regoFile } from './rego-file.js';

/**
 * Writes the package `regolith.ago`, with a rule for each duration in conditions, such as `ago.P30D`. The rule's value
 * is the check time minus the duration, as text. The engine evaluates a rule once per check, however many sets
 * use the duration. Returns no file if no condition contains a duration.
 */
export function writeAgo(
	conditionSets: readonly ConditionSet[],
	grantConditions: readonly GrantCondition[] = [],
): readonly RegoFile[] {
	const conditions = [...conditionSets.map(conditionOf), ...grantConditions.map(parseGrantCondition)];
	const durations = canonical(
		new Set(conditions.flatMap((condition) => (condition === undefined ? [] : durationsIn(condition)))),
	);
	if (durations.length === 0) return [];
	return [
		regoFile('regolith/ago/ago.rego', [
			rego`package regolith.ago`,
			lines([rego`import data.regolith.expiry`, rego`import data.regolith.instant`]),
			...durations.map(writeDuration),
		]),
	];
}

/** True if a set's conditions depend on the check time. */
export function usesTime(set: ConditionSet | GrantCondition): boolean {
	const condition = 'selects' in set ? conditionOf(set) : parseGrantCondition(set);
	if (condition === undefined) return false;
	return durationsIn(condition).length > 0 || attributesIn(condition).some(({ object }) => object === 'now');
}

function conditionOf({ selects, type, resource }: ConditionSet): Condition | undefined {
	if (!('conditions' in selects)) return undefined;
	const parsed = parseConditions(selects.conditions, { type, bound: resource !== null });
	return 'condition' in parsed ? parsed.condition : undefined;
}

function writeDuration(duration: string): Fragment {
	const name = new Fragment(duration);
	const length = new Fragment(String(durationLength(duration) ?? 0));
	return lines([
		metadata({ title: `The time ${duration} before the check` }),
		// A decision point adds the text to its checks, because the calculation is the slowest part of a check.
		rego`${name} := input.before.${name} if {`,
		rego`	is_string(input.before.${name})`,
		rego`} else := instant.text(expiry.now - ${length})`,
	]);
}
