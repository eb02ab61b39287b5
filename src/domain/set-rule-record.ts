import type { ChangedRecord } from '../store/change.js';
import { deleteRules, type RuleFilter, type RuleRow, someRules } from '../store/table/condition-set-rule.js';
import type { WritingUnit } from '../store/unit.js';
import { removePortions } from './portions.js';

/** A rule's key (contract: Condition set rules). */
export function ruleKey({ user_set, resource, action, resource_set }: RuleRow): string {
	return `${user_set}_can_${resource}_${action}_${resource_set}`;
}

/** Records that rules came. */
export function recordRules(unit: WritingUnit, rows: readonly RuleRow[]): void {
	for (const row of rows) unit.record('condition_set_rule', 'create', ruleKey(row), null, recordOf(row));
}

/** Deletes every rule that passes the filter: what must go before its set or its action goes. Returns how many. */
export function removeRules(unit: WritingUnit, filter: RuleFilter): Promise<number> {
	return removePortions(
		() => someRules(unit, filter),
		async (rows) => {
			await deleteRules(unit, rows);
			for (const row of rows) unit.record('condition_set_rule', 'delete', ruleKey(row), recordOf(row), null);
		},
	);
}

function recordOf(row: RuleRow): ChangedRecord {
	const { environment_id: _, ...record } = row;
	return { ...record };
}
