import type { Knex } from 'knex';
import { type Lineages, lineageInForce, requireLineage } from './lineage.js';

/**
 * An environment's revision and schema revision, with their lineage and tokens. Lineage and tokens distinguish equal
 * revision numbers from different histories.
 */
export interface EnvironmentCounters {
	readonly revision: number;
	readonly schema_revision: number;
	/** Lineage id for these revisions. */
	readonly lineage: string;
	readonly token: string;
	/** The schema revision's token. */
	readonly schema_token: string;
}

/** Token for revision 0 and for revisions that predate tokens. */
const noToken = '0';

const token = (column: string) => `coalesce((select token from changes
	where environment_id = environments.id and revision = ${column} and position = 0), '${noToken}')`;

const selection = (lineage: string) => `select revision, schema_revision, ${lineage} as lineage,
	${token('environments.revision')} as token, ${token('environments.schema_revision')} as schema_token
	from environments where id = ?`;

/** Reads an environment's counters, or `null` if it does not exist. Throws `LineageOutdated`. */
export async function readCounters(
	database: Knex,
	lineages: Lineages,
	environmentId: string,
): Promise<EnvironmentCounters | null> {
	const counters = await select(database, lineages.current, environmentId);
	return counters && { ...counters, lineage: requireLineage(counters.lineage) };
}

/** Like `readCounters`, for a transaction that has already verified the lineage. */
export async function countersIn(transaction: Knex, environmentId: string): Promise<EnvironmentCounters | null> {
	const counters = await select(transaction, lineageInForce, environmentId);
	return counters && { ...counters, lineage: counters.lineage ?? '' };
}

async function select(database: Knex, lineage: string, environmentId: string) {
	const name = lineage === lineageInForce ? 'counters' : 'counters, checked';
	const { rows } = await database
		.raw<{ rows: (Omit<EnvironmentCounters, 'lineage'> & { readonly lineage: string | null })[] }>(selection(lineage), [
			environmentId,
		])
		.options({ name });
	return rows[0] ?? null;
}

/** Returns a revision's token, or `null` if the environment has no such revision. */
export async function tokenAt(database: Knex, environmentId: string, revision: number): Promise<string | null> {
	if (revision === 0) return noToken;
	const { rows } = await database.raw<{ rows: { readonly token: string | null }[] }>(
		'select token from changes where environment_id = ? and revision = ? and position = 0',
		[environmentId, revision],
	);
	const [row] = rows;
	return row === undefined ? null : (row.token ?? noToken);
}
