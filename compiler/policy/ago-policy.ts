/** Rego for the durations in conditions. */
import { durationLength } from '../condition/duration.js';
import { attributesIn, durationsIn, parseConditions } from '../condition/grammar.js';
import type { ConditionSet, RegoFile } from '../model.js';
import { canonical } from '../order.js';
import { Fragment, lines, rego } from '../rego/rego.js';
import { metadata } from './metadata.js';
import { regoFile } from './rego-file.js';

/**
 * Writes the package `regolith.ago`, with a rule for each duration in conditions, such as `ago.P30D`. The rule is the
 * time that lies the duration before the check, as text. The engine evaluates a rule once per check, however many sets
 * use the duration. Returns no file if no condition contains a duration.
 */
export function writeAgo(conditionSets: readonly ConditionSet[]): readonly RegoFile[] {
	const durations = canonical(new Set(conditionSets.flatMap(durationsOf)));
	if (durations.length === 0) return [];
	return [
		regoFile('regolith/ago/ago.rego', [
			rego`package regolith.ago`,
			lines([rego`import data.regolith.expiry`, rego`import data.regolith.instant`]),
			...durations.map(writeDuration),
		]),
	];
}

/** True if a set's conditions depend on the time of the check. */
export function usesTime({ selects, type }: ConditionSet): boolean {
	if (!('conditions' in selects)) return false;
	const parsed = parseConditions(selects.conditions, { type });
	if (!('condition' in parsed)) return false;
	return (
		durationsIn(parsed.condition).length > 0 || attributesIn(parsed.condition).some(({ object }) => object === 'now')
	);
}

function durationsOf({ selects, type }: ConditionSet): readonly string[] {
	if (!('conditions' in selects)) return [];
	const parsed = parseConditions(selects.conditions, { type });
	return 'condition' in parsed ? durationsIn(parsed.condition) : [];
}

function writeDuration(duration: string): Fragment {
	const name = new Fragment(duration);
	const length = new Fragment(String(durationLength(duration) ?? 0));
	return lines([
		metadata({ title: `The time ${duration} before the check` }),
		rego`${name} := instant.text(expiry.now - ${length})`,
	]);
}
