import type { JsonObject } from '../../wire/common.js';
import type { ReadingUnit } from '../unit.js';

/** What the owner of a unit's environment says of it, as this unit sees it. */
export async function settingsOf(unit: ReadingUnit): Promise<JsonObject> {
	const sql = 'select "settings" from "environments" where "id" = :environment_id';
	const [row] = (await unit.raw<{ readonly settings: JsonObject | null }>(sql, {})).rows;
	return row?.settings ?? {};
}
