import type { ModelClass, PartialModelObject } from 'objection';
import type { EnvironmentModel } from '../table/environment-model.js';
import type { ChangeKind } from './change.js';

/**
 * A table of environments' objects: an objection model that also says what its rows are called in changes and messages.
 */
export interface TableModel<M extends EnvironmentModel> {
	new (): M;
	readonly tableName: string;
	readonly kind: ChangeKind;
	readonly title: string;
	/** Whether rows have `expires_at`: what has expired is as if it were not there. */
	readonly expires?: true;
}

/** A table as objection takes it: a model's row type stands in a type out of which TypeScript cannot infer it. */
export function asModel<M extends EnvironmentModel>(table: TableModel<M>): ModelClass<M> {
	return table as unknown as ModelClass<M>;
}

/** The columns of one row as a writer gives them; the unit adds `environment_id`. */
export type Columns<M extends EnvironmentModel> = Omit<PartialModelObject<M>, 'environment_id' | 'QueryBuilderType'>;

/** Columns and values that rows must have for a key to be unique among them, such as the resource of actions. */
export type Within = Readonly<Record<string, string | boolean | null>>;
