import { type ConditionSetValue, readConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { readSchemaDocument } from '../../read-schema.js';

/** Schema data for the page of a condition set, read in one call. */
export interface SetSchema {
	/** Revision for all this data. */
	readonly revision: number;
	readonly sets: Readonly<Record<string, ConditionSetValue>>;
	readonly rules: readonly SetRule[];
	readonly resources: Readonly<Record<string, SetResource>>;
	readonly user_attributes: Readonly<Record<string, { readonly type?: unknown }>>;
}

/** Resource with its attributes and the conditions that its roles and relations declare. */
interface SetResource {
	readonly attributes?: unknown;
	readonly roles?: Readonly<Record<string, Declaring>>;
	readonly relations?: Readonly<Record<string, Declaring>>;
}

interface Declaring {
	readonly grant_conditions?: readonly string[] | undefined;
}

/** Rule that grants an action to a user set on a resource set. Contains their keys. */
export interface SetRule {
	readonly user_set: string;
	readonly permission: string;
	readonly resource_set: string;
}

/** Reads the schema half of the environment document. Throws `ApiFailure`. */
export async function readSchema(signal: AbortSignal): Promise<SetSchema> {
	const { schema, revision } = await readSchemaDocument(signal);
	const { condition_sets = {}, set_rules = [], resources = {}, user_attributes = {} } = schema ?? {};
	const sets = Object.entries(condition_sets).map(([key, entry]) => [key, readConditionSetValue(entry)] as const);
	return {
		revision,
		sets: Object.fromEntries(sets),
		// Rules in a document refer to sets and actions by key, so they already have the shape of `SetRule`.
		rules: set_rules as unknown as readonly SetRule[],
		resources,
		user_attributes,
	};
}
