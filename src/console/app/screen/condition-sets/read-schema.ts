import { type ConditionSetValue, readConditionSetValue } from '../../../model/condition-set-value.js';
import { answered, management } from '../../api.js';
import { environmentPath } from '../../session.js';

/** What a page of a set reads of the schema, in one call. */
export interface SetSchema {
	readonly sets: Readonly<Record<string, ConditionSetValue>>;
	readonly rules: readonly SetRule[];
	readonly resources: Readonly<Record<string, { readonly attributes?: unknown }>>;
	readonly user_attributes: Readonly<Record<string, { readonly type?: unknown }>>;
}

/** A rule between two sets, by keys. */
export interface SetRule {
	readonly user_set: string;
	readonly permission: string;
	readonly resource_set: string;
}

/** Reads the schema half of the environment's document. */
export async function readSchema(signal: AbortSignal): Promise<SetSchema> {
	const { schema } = await answered(
		management.GET('/v2/projects/{proj_id}/envs/{env_id}/export', {
			params: { path: environmentPath(), query: { half: 'schema' } },
			signal,
		}),
	);
	const { condition_sets = {}, set_rules = [], resources = {}, user_attributes = {} } = schema ?? {};
	const sets = Object.entries(condition_sets).map(([key, entry]) => [key, readConditionSetValue(entry)] as const);
	return {
		sets: Object.fromEntries(sets),
		// Documents are written by keys, each with these three members.
		rules: set_rules as unknown as readonly SetRule[],
		resources,
		user_attributes,
	};
}
