import type { ModelClass, PartialModelObject } from 'objection';
import type { EnvironmentModel } from '../table/environment-model.js';
import type { ChangeKind } from './change.js';

/** Table with environment objects: an objection model, and the names for its rows in the change log and in messages. */
export interface TableModel<M extends EnvironmentModel> {
	new (): M;
	readonly tableName: string;
	readonly kind: ChangeKind;
	readonly title: string;
	/** True if rows have `expires_at`. Queries skip expired rows. */
	readonly expires?: true;
	/** SQL condition on rows that queries return; absent if they return all rows. */
	readonly shown?: string | undefined;
}

/** Casts a table for objection: TypeScript cannot infer the row type from the model's type. */
export function asModel<M extends EnvironmentModel>(table: TableModel<M>): ModelClass<M> {
	return table as unknown as ModelClass<M>;
}

/** Columns to write in a row; the unit adds `environment_id`. */
export type Columns<M extends EnvironmentModel> = Omit<PartialModelObject<M>, 'environment_id' | 'QueryBuilderType'>;

/** Columns and values that delimit a unique key's scope, such as the resource for actions. */
export type Within = Readonly<Record<string, string | boolean | null>>;
