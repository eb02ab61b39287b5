import { searchPattern } from '../query/filter.js';
import type { Page, PageResult } from '../query/row-query.js';
import type { Change, ChangeKind } from '../unit/change.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** Filter for an environment's changes. Absent fields do not filter. Ranges include both ends. */
export interface ChangeFilter {
	readonly kind?: readonly ChangeKind[] | undefined;
	readonly operation?: readonly Change['operation'][] | undefined;
	/** Search string for the changed objects' keys. */
	readonly search?: string | undefined;
	/** Ids of API keys that wrote. */
	readonly actor?: readonly string[] | undefined;
	readonly revision_from?: number | undefined;
	readonly revision_to: number;
	readonly position?: number | undefined;
	readonly created_from?: string | undefined;
	readonly created_to?: string | undefined;
}

/** A change with its author's API key; `null` for the server itself. */
export interface AttributedChange extends Change {
	readonly revision: number;
	readonly position: number;
	readonly actor_id: string | null;
	/** Name of the author's API key; `null` also after the key's deletion. */
	readonly actor_name: string | null;
	readonly created_at: Date;
}

const filtered = `from changes where environment_id = :environment_id and revision <= :revision_to
	and (:revision_from::bigint is null or revision >= :revision_from::bigint)
	and (:position::int is null or position = :position::int)
	and (:created_from::float8 is null or created_at >= to_timestamp(:created_from::float8))
	and (:created_to::float8 is null or created_at <= to_timestamp(:created_to::float8))
	and (:kind::text[] is null or kind = any(:kind::text[]))
	and (:operation::text[] is null or operation = any(:operation::text[]))
	and (:actor::uuid[] is null or actor_id = any(:actor::uuid[]))
	and (:pattern::text is null or key ilike :pattern::text)`;

/**
 * Returns a page of an environment's changes, newest first. The log only grows, so the log up to a given revision stays
 * the same.
 */
export async function readHistory(
	unit: ReadingUnit,
	filter: ChangeFilter,
	page: Page,
): Promise<PageResult<AttributedChange>> {
	const narrowed = filterBindings(filter);
	const { rows } = await unit.raw<AttributedChange>(
		`select changes.*, api_keys.name as actor_name
		from (select * ${filtered} order by revision desc, position desc limit :limit offset :offset) as changes
		left join api_keys on api_keys.id = changes.actor_id and api_keys.organization_id = :organization_id
		order by changes.revision desc, changes.position desc`,
		{
			...narrowed,
			limit: page.per_page,
			offset: (page.page - 1) * page.per_page,
			organization_id: unit.scope.organization_id,
		},
	);
	const total_count = await historyLength(unit, filter);
	return { data: rows, total_count, page_count: Math.ceil(total_count / page.per_page) };
}

/** Returns the total size of the changed objects' records as JSON, in bytes. */
export async function historyBytes(unit: ReadingUnit, filter: ChangeFilter): Promise<number> {
	const { rows } = await unit.raw<{ readonly bytes: number }>(
		`select coalesce(sum(octet_length(coalesce(before::text, '')) + octet_length(coalesce(after::text, ''))), 0)::float8
			as bytes ${filtered}`,
		filterBindings(filter),
	);
	return rows[0]?.bytes ?? 0;
}

export async function historyLength(unit: ReadingUnit, filter: ChangeFilter): Promise<number> {
	const counted = await unit.raw<{ readonly total: number }>(
		`select count(*) as total ${filtered}`,
		filterBindings(filter),
	);
	return counted.rows[0]?.total ?? 0;
}

function filterBindings(filter: ChangeFilter) {
	const {
		search,
		kind,
		operation,
		actor,
		revision_from = null,
		revision_to,
		position = null,
		created_from,
		created_to,
	} = filter;
	return {
		revision_from,
		revision_to,
		position,
		created_from: epochSeconds(created_from),
		created_to: epochSeconds(created_to),
		kind: arrayOrNull(kind),
		operation: arrayOrNull(operation),
		actor: arrayOrNull(actor),
		pattern: search === undefined ? null : searchPattern(search),
	};
}

/** Converts a time to seconds since 1970, because PostgreSQL cannot read a date in the year 0. */
function epochSeconds(instant: string | undefined): number | null {
	return instant === undefined ? null : Date.parse(instant) / 1000;
}

function arrayOrNull(values: readonly string[] | undefined): string[] | null {
	return values === undefined ? null : [...values];
}
