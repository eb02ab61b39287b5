import type { Change, ChangeKind } from '../unit/change.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** Selection of change log entries. */
export interface WantedChanges {
	readonly objects: readonly LoggedName[];
	/** Changes to objects of this kind that belong to these resources. */
	readonly within: readonly { readonly kind: ChangeKind; readonly resource: string }[];
	/** Deletions of these objects. */
	readonly deleted: readonly LoggedName[];
}

/** Kind and key by which the change log identifies an object. */
export interface LoggedName {
	readonly kind: ChangeKind;
	readonly key: string;
}

/** A log entry without the object's state. */
export interface LoggedEntry extends LoggedName {
	readonly revision: number;
	readonly operation: Change['operation'];
	readonly actor_id: string | null;
	/** Name of the author's API key; `null` also after the key's deletion. */
	readonly actor_name: string | null;
	/** Keys that identify a rule, because two rules may have the same log key; null for other kinds. */
	readonly rule: readonly string[] | null;
}

/** Object kinds in an environment document's schema half. */
const documentSchemaKinds = [
	'resource',
	'resource_action',
	'resource_attribute',
	'relation',
	'action_group',
	'role',
	'condition_set',
	'condition_set_rule',
	'elements_config',
	'check_test',
] as const satisfies readonly ChangeKind[];

// The kinds are literals, as in the index `changes_of_documents`. With bindings, the database could not use the index.
const ofSchema = `and kind in (${documentSchemaKinds.map((kind) => `'${kind}'`).join(', ')})`;

/** Maximum number of scanned changes: schema changes if only these are selected, or all changes. */
const maxLookedThrough = 100_000;
/** Maximum number of returned changes. */
const maxFound = 1_000;

/**
 * Returns the selected changes after revision `base`, newest first, at most 1,000. Returns `null` if it would have to
 * scan more than 100,000 changes. If only schema changes are selected, only schema changes are scanned.
 */
export async function loggedSince(
	unit: ReadingUnit,
	base: number,
	{ objects, within, deleted }: WantedChanges,
): Promise<readonly LoggedEntry[] | null> {
	const inSchema: ReadonlySet<ChangeKind> = new Set(documentSchemaKinds);
	const narrowed = [...objects, ...within, ...deleted].every(({ kind }) => inSchema.has(kind)) ? ofSchema : '';
	const since = `from changes where environment_id = :environment_id and revision > :base ${narrowed}`;
	const counted = await unit.raw<{ readonly total: number }>(
		`select count(*) as total from (select 1 ${since} limit :limit) as looked_through`,
		{ base, limit: maxLookedThrough + 1 },
	);
	if ((counted.rows[0]?.total ?? 0) > maxLookedThrough) return null;
	const { rows } = await unit.raw<LoggedEntry>(
		`select found.*, api_keys.name as actor_name
		from (
			select kind, key, revision, position, operation, actor_id, case when kind = 'condition_set_rule' then jsonb_build_array(
				record ->> 'user_set', record ->> 'resource', record ->> 'action', record ->> 'resource_set') end as rule
			from (
				select *, coalesce(after, before) as record ${since} and (
					kind || ' ' || key = any(:objects::text[])
					or kind || ' ' || split_part(key, ':', 1) = any(:within::text[])
					or operation = 'delete' and kind || ' ' || key = any(:deleted::text[])
				)
			) as logged
			order by revision desc, position desc limit :limit
		) as found
		left join api_keys on api_keys.id = found.actor_id and api_keys.organization_id = :organization_id
		order by found.revision desc, found.position desc`,
		{
			base,
			objects: objects.map(({ kind, key }) => `${kind} ${key}`),
			within: within.map(({ kind, resource }) => `${kind} ${resource}`),
			deleted: deleted.map(({ kind, key }) => `${kind} ${key}`),
			limit: maxFound,
			organization_id: unit.scope.organization_id,
		},
	);
	return rows;
}
