import { type AttributeFilter, whereAttributes, whereSearched } from '../query/filter.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { KeyedModel } from './environment-model.js';

export class Resource extends KeyedModel {
	static override readonly tableName = 'resources';
	static override readonly jsonAttributes = ['type_attributes'];
	static readonly kind = 'resource';
	static readonly title = 'Resource';

	declare name: string;
	declare urn: string | null;
	declare description: string | null;
	declare type_attributes: Record<string, unknown> | null;
	/** True for `__user`, which is created with the environment. It is listed only on request and cannot be deleted. */
	declare built_in: boolean;
	/** True if the groups API created the resource. The groups API deletes it when no group needs it. */
	declare made_for_groups: boolean;
}

/** An action on instances of a resource type. */
export class ResourceAction extends KeyedModel {
	static override readonly tableName = 'resource_actions';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'resource_action';
	static readonly title = 'ResourceAction';

	declare resource_id: string;
	declare name: string;
	declare description: string | null;
	declare attributes: Record<string, unknown> | null;
}

/** An attribute of a resource type. */
export class ResourceAttribute extends KeyedModel {
	static override readonly tableName = 'resource_attributes';
	static readonly kind = 'resource_attribute';
	static readonly title = 'ResourceAttribute';

	declare resource_id: string;
	declare type: string;
	declare description: string | null;
	declare built_in: boolean;
}

export interface ResourceFilter {
	readonly search?: string | undefined;
	readonly include_built_in: boolean;
	readonly attribute_filters: readonly AttributeFilter[];
}

/** Returns the environment's resources matching the filter, oldest first. */
export function resourcesBy(unit: ReadingUnit, filter: ResourceFilter): RowQuery<Resource> {
	const query = unit.query(Resource).orderBy('resources.id');
	if (!filter.include_built_in) query.where('resources.built_in', false);
	whereSearched(query, ['resources.key', 'resources.name'], filter.search);
	return rowQuery(whereAttributes(query, 'resources.type_attributes', filter.attribute_filters));
}

/** Returns these resources' actions, oldest first. */
export function actionsIn(unit: ReadingUnit, resourceIds: readonly string[]): RowQuery<ResourceAction> {
	return actionsBy(unit, resourceIds, []);
}

/** Returns these resources' actions that have all these attribute values, oldest first. */
export function actionsBy(
	unit: ReadingUnit,
	resourceIds: readonly string[],
	filters: readonly AttributeFilter[],
): RowQuery<ResourceAction> {
	const query = unit
		.query(ResourceAction)
		.whereRaw('resource_actions.resource_id = any(?::uuid[])', [resourceIds])
		.orderBy('resource_actions.id');
	return rowQuery(whereAttributes(query, 'resource_actions.attributes', filters));
}

/** Returns these resources' attributes, oldest first. */
export function attributesIn(unit: ReadingUnit, resourceIds: readonly string[]): RowQuery<ResourceAttribute> {
	return rowQuery(
		unit
			.query(ResourceAttribute)
			.whereRaw('resource_attributes.resource_id = any(?::uuid[])', [resourceIds])
			.orderBy('resource_attributes.id'),
	);
}

/** Returns the ids and keys of all resources in the environment except `__user`. */
export async function resourceKeys(unit: ReadingUnit): Promise<readonly Pick<Resource, 'id' | 'key'>[]> {
	return unit.query(Resource).select('resources.id', 'resources.key').where('resources.built_in', false);
}

/** Returns the keys and resource ids of all attributes, in no particular order. */
export async function attributeKeys(
	unit: ReadingUnit,
): Promise<readonly Pick<ResourceAttribute, 'resource_id' | 'key'>[]> {
	return unit.query(ResourceAttribute).select('resource_attributes.resource_id', 'resource_attributes.key');
}
