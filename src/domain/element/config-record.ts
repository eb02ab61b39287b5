import { groupBy } from '../../../compiler/group-by.js';
import {
	deleteLevels,
	ElementsConfig,
	elementsConfigsNaming,
	levelRows,
} from '../../store/table/element/elements-config.js';
import type { ChangedRecord } from '../../store/unit/change.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Columns } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { configuredLevels } from '../../wire/element/elements-config.js';
import { elementRoleName } from './role.js';

/** Element records in the change log. A record lists the role names for each level. */

/** Removes roles from every element. Must run before the roles are deleted. */
export async function removeLevelsOfRoles(unit: WritingUnit, roleIds: readonly string[]): Promise<void> {
	const naming = await elementsConfigsNaming(unit, roleIds).all();
	if (naming.length === 0) return;
	const before = new Map<string, ChangedRecord>();
	for (const row of naming) before.set(row.id, await elementsConfigRecord(unit, row));
	await deleteLevels(unit, roleIds);
	for (const row of naming) {
		const after = await unit.change(ElementsConfig, row, {});
		unit.record(
			'elements_config',
			'update',
			row.key,
			before.get(row.id) ?? null,
			await elementsConfigRecord(unit, after),
		);
	}
}

/** Changes element columns, runs `work`, and records any change. Returns the current element. */
export async function recordElementsConfigChange(
	unit: WritingUnit,
	row: ElementsConfig,
	columns: Columns<ElementsConfig>,
	work: () => Promise<void> = async () => {},
): Promise<ElementsConfig> {
	const before = await elementsConfigRecord(unit, row);
	const changed = hasValues(row, columns) ? row : await unit.change(ElementsConfig, row, columns);
	await work();
	const now = await elementsConfigRecord(unit, changed);
	if (hasValues(before, { ...now, updated_at: before['updated_at'] }) && changed === row) return row;
	const after = changed === row ? await unit.change(ElementsConfig, row, {}) : changed;
	unit.record('elements_config', 'update', row.key, before, await elementsConfigRecord(unit, after));
	return after;
}

/** Returns an element's change log record. */
export async function elementsConfigRecord(unit: ReadingUnit, row: ElementsConfig): Promise<ChangedRecord> {
	const byLevel = groupBy(await levelRows(unit, [row.id]), ({ level }) => level);
	const named = configuredLevels.map((level) => [level, (byLevel.get(level) ?? []).map(elementRoleName)]);
	return { ...changeRecord(row), roles_to_levels: Object.fromEntries(named) };
}
