import { type AttributeFilter, whereAttributes, whereSearched } from '../query/filter.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { KeyedModel } from './environment-model.js';

/** A customer, workspace or similar unit of the application, in which users hold roles. */
export class Tenant extends KeyedModel {
	static override readonly tableName = 'tenants';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'tenant';
	static readonly title = 'Tenant';

	declare name: string;
	declare description: string | null;
	/** `null` if the attributes were never set. */
	declare attributes: Record<string, unknown> | null;
	declare last_action_at: Date;
}

export interface TenantFilter {
	readonly search?: string | undefined;
	readonly attribute_filters: readonly AttributeFilter[];
}

/** Returns the environment's tenants matching the filter, oldest first. */
export function tenantsBy(unit: ReadingUnit, filter: TenantFilter): RowQuery<Tenant> {
	const query = unit.query(Tenant).orderBy('tenants.id');
	whereSearched(query, ['tenants.key', 'tenants.name'], filter.search);
	return rowQuery(whereAttributes(query, 'tenants.attributes', filter.attribute_filters));
}

/** Returns the tenant with this key. Unlike a reference, the key never matches an id. */
export async function tenantWithKey(unit: ReadingUnit, key: string): Promise<Tenant | null> {
	return (await unit.query(Tenant).where('tenants.key', key).first()) ?? null;
}
