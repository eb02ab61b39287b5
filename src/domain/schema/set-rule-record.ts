import { deleteRules, type RuleFilter, type RuleRow, rulesToRemove } from '../../store/table/condition-set-rule.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { removeInChunks } from '../remove-in-chunks.js';

/** Returns a rule's key. */
export function setRuleKey({ user_set, resource, action, resource_set }: RuleRow): string {
	return `${user_set}_can_${resource}_${action}_${resource_set}`;
}

/** Records created rules. */
export function recordSetRules(unit: WritingUnit, rows: readonly RuleRow[]): void {
	for (const row of rows) unit.record('condition_set_rule', 'create', setRuleKey(row), null, ruleRecord(row));
}

/**
 * Deletes every matching rule. Must run before a set or action in these rules is deleted. Returns the number deleted.
 */
export function removeSetRules(unit: WritingUnit, filter: RuleFilter): Promise<number> {
	return removeInChunks(rulesToRemove(unit, filter), (rows) => removeSetRuleRows(unit, rows));
}

/** Deletes these rules and records the deletions. */
export async function removeSetRuleRows(unit: WritingUnit, rows: readonly RuleRow[]): Promise<void> {
	await deleteRules(unit, rows);
	for (const row of rows) unit.record('condition_set_rule', 'delete', setRuleKey(row), ruleRecord(row), null);
}

function ruleRecord(row: RuleRow): ChangedRecord {
	const { environment_id: _, ...record } = row;
	return { ...record };
}
