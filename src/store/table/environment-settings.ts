import type { JsonObject } from '../../wire/common.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** Returns the environment's settings as seen by this unit. */
export async function environmentSettings(unit: ReadingUnit): Promise<JsonObject> {
	const sql = 'select "settings" from "environments" where "id" = :environment_id';
	const [row] = (await unit.raw<{ readonly settings: JsonObject | null }>(sql, {})).rows;
	return row?.settings ?? {};
}

/** True if checks in the environment may contain contextual facts. */
export async function allowsContextualFacts(unit: ReadingUnit): Promise<boolean> {
	return (await environmentSettings(unit))['contextual_facts'] === true;
}
