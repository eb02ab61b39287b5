import type { Knex } from 'knex';
import { type Lineages, lineageInForce, requireLineage } from './lineage.js';

/** The revision of an environment, the newest that changed its schema, and what tells them from others so numbered. */
export interface EnvironmentCounters {
	readonly revision: number;
	readonly schema_revision: number;
	/** The id of the lineage that they are of. */
	readonly lineage: string;
	/** The token of the revision. */
	readonly token: string;
	/** The token of the schema's revision. */
	readonly schema_token: string;
}

/** The token of revisions from before there were tokens, and of revision 0. */
const noToken = '0';

const token = (column: string) => `coalesce((select token from changes
	where environment_id = environments.id and revision = ${column} and position = 0), '${noToken}')`;

const selection = (lineage: string) => `select revision, schema_revision, ${lineage} as lineage,
	${token('environments.revision')} as token, ${token('environments.schema_revision')} as schema_token
	from environments where id = ?`;

/** Reads the counters of an environment; `null` when it does not exist (any more). Throws `LineageOutdated`. */
export async function readCounters(
	database: Knex,
	lineages: Lineages,
	environmentId: string,
): Promise<EnvironmentCounters | null> {
	const counters = await select(database, lineages.current, environmentId);
	return counters && { ...counters, lineage: requireLineage(counters.lineage) };
}

/** As `readCounters`, in a transaction that has made sure of its lineage. */
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

/** The token of a revision; `null` when the environment has no such revision. */
export async function tokenAt(database: Knex, environmentId: string, revision: number): Promise<string | null> {
	if (revision === 0) return noToken;
	const { rows } = await database.raw<{ rows: { readonly token: string | null }[] }>(
		'select token from changes where environment_id = ? and revision = ? and position = 0',
		[environmentId, revision],
	);
	const [row] = rows;
	return row === undefined ? null : (row.token ?? noToken);
}
