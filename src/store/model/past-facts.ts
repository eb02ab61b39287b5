import type { PastFact } from '../../../compiler/data/delta.js';
import type { Attributes } from '../../../compiler/model.js';
import type { ReadingUnit } from '../unit/reading-unit.js';

/** A revision range. It excludes the first revision and includes the last. */
export interface RevisionRange {
	readonly after: number;
	readonly upTo: number;
}

/**
 * Returns each fact that changed in a revision range, in its state before the range. Returns `null` if there are more
 * than `most` changes. The result for a range never changes, because the log only grows.
 */
export async function readPastFacts(
	unit: ReadingUnit,
	{ after, upTo }: RevisionRange,
	most: number,
): Promise<readonly PastFact[] | null> {
	const counted = await unit.raw<{ readonly total: number }>(
		`select count(*) as total from (
			select 1 from changes where environment_id = :environment_id and revision > :after and revision <= :up_to limit :limit
		) as counted`,
		{ after, up_to: upTo, limit: most + 1 },
	);
	if ((counted.rows[0]?.total ?? 0) > most) return null;
	const { rows } = await unit.raw<FirstChange>(
		`select distinct on (kind, own_key, "user", role, tenant, resource, resource_instance, condition_set, subject, relation,
			object) *
		from (
			select kind, before, revision, position,
				case when kind in ('user', 'tenant', 'resource_instance') then record ->> 'key' end as own_key,
				record ->> 'user' as "user", record ->> 'role' as role,
				case when kind = 'role_assignment' then record ->> 'tenant' end as tenant,
				case when kind = 'resource_instance' then record ->> 'tenant' end as home,
				record ->> 'resource' as resource, record ->> 'resource_instance' as resource_instance,
				record -> 'condition' ->> 'set' as condition_set,
				record ->> 'subject' as subject, record ->> 'relation' as relation, record ->> 'object' as object
			from changes cross join lateral (select coalesce(before, after) as record) as either
			where environment_id = :environment_id and revision > :after and revision <= :up_to
				and kind in ('user', 'tenant', 'resource_instance', 'role_assignment', 'relationship_tuple')
		) as logged
		order by kind, own_key, "user", role, tenant, resource, resource_instance, condition_set, subject, relation, object,
			revision, position`,
		{ after, up_to: upTo },
	);
	return rows.map(asPastFact);
}

/** First change to a fact in the range, with the fact's keys. */
interface FirstChange {
	readonly kind: 'user' | 'tenant' | 'resource_instance' | 'role_assignment' | 'relationship_tuple';
	readonly before: Readonly<Record<string, unknown>> | null;
	readonly own_key: string | null;
	readonly user: string | null;
	readonly role: string | null;
	/** Tenant of an assignment. */
	readonly tenant: string | null;
	/** An instance's tenant. */
	readonly home: string | null;
	readonly resource: string | null;
	readonly resource_instance: string | null;
	readonly condition_set: string | null;
	readonly subject: string | null;
	readonly relation: string | null;
	readonly object: string | null;
}

function asPastFact(change: FirstChange): PastFact {
	const { kind, before, own_key, resource, resource_instance, condition_set } = change;
	const { user, role, tenant, home, subject, relation, object } = withTexts(change);
	const until = expiryBefore(before);
	const condition = condition_set !== null && { condition: { set: condition_set, values: valuesBefore(before) } };
	switch (kind) {
		case 'user':
			return { kind, user: own_key ?? '', attributes: before && { ...namesIn(before), ...attributesIn(before) } };
		case 'tenant':
			return { kind, tenant: own_key ?? '', attributes: before && attributesIn(before) };
		case 'resource_instance': {
			const instance = `${resource ?? ''}:${own_key ?? ''}`;
			return { kind: 'instance', instance, tenant: home, attributes: before && attributesIn(before) };
		}
		case 'role_assignment':
			return resource_instance === null
				? { kind: 'tenant_role', user, tenant, role, until }
				: {
						kind: 'instance_role',
						user,
						instance: resource_instance,
						role,
						until,
						...condition,
					};
		case 'relationship_tuple':
			return { kind: 'relationship', object, relation, subject, until, ...condition };
	}
}

/** Returns a change's keys, with empty strings for missing keys. */
function withTexts({ user, role, tenant, home, subject, relation, object }: FirstChange) {
	return {
		user: user ?? '',
		role: role ?? '',
		tenant: tenant ?? '',
		home: home ?? '',
		subject: subject ?? '',
		relation: relation ?? '',
		object: object ?? '',
	};
}

function attributesIn(before: Readonly<Record<string, unknown>>): Attributes {
	// The log contains JSON.
	return (before['attributes'] ?? {}) as Attributes;
}

/**
 * Returns the user attributes that are available in conditions in addition to the stored attributes: see
 * `userAttributes`.
 */
function namesIn({ email, first_name, last_name }: Readonly<Record<string, unknown>>): Attributes {
	const given = Object.entries({ email, first_name, last_name });
	return Object.fromEntries(given.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Returns a grant's values for its condition before the change. */
function valuesBefore(before: Readonly<Record<string, unknown>> | null): Attributes {
	// The log contains JSON, in the form in which grants are recorded.
	const condition = before?.['condition'] as { readonly values?: Attributes } | undefined;
	return condition?.values ?? {};
}

/** Returns a grant's expiry before the change; `undefined` if the grant did not exist. */
function expiryBefore(before: Readonly<Record<string, unknown>> | null): number | null | undefined {
	if (before === null) return undefined;
	const end = before['expires_at'] ?? null;
	return end === null ? null : Date.parse(String(end));
}
