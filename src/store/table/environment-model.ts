import type { Knex } from 'knex';
import { Model } from 'objection';

/**
 * A row that belongs to an environment. Units query these tables; only work across environments queries some of them
 * directly.
 */
export abstract class EnvironmentModel extends Model {
	declare environment_id: string;
	declare id: string;
	declare created_at: Date;

	static override get idColumn(): string[] {
		return ['environment_id', 'id'];
	}
}

/** A row that callers can name by its key. */
export abstract class KeyedModel extends EnvironmentModel {
	declare key: string;
	declare updated_at: Date;
}

/** Returns the join condition from a referring column to its row in the same environment. */
export function sameEnvironment(from: string, column: string, to: string): (join: Knex.JoinClause) => void {
	return (join) => {
		join.on(`${from}.environment_id`, `${to}.environment_id`).andOn(`${from}.${column}`, `${to}.id`);
	};
}
