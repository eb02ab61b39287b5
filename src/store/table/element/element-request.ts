import type { QueryBuilder } from 'objection';
import type { RequestStatus, RequestType } from '../../../wire/element/element-request.js';
import { whereIdsIn } from '../../query/filter.js';
import { type RowQuery, rowQuery } from '../../query/row-query.js';
import type { ReadingUnit } from '../../unit/reading-unit.js';
import type { Columns } from '../../unit/table-model.js';
import type { WritingUnit } from '../../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from '../environment-model.js';

/** A user's request in an element, and its outcome. */
export class ElementRequest extends EnvironmentModel {
	static override readonly tableName = 'element_requests';
	static readonly kind = 'element_request';
	static readonly title = 'ElementRequest';

	/** `null` after the element's deletion. */
	declare config_id: string | null;
	declare type: RequestType;
	declare status: RequestStatus;
	declare requesting_user_id: string;
	declare tenant_id: string;
	/** Requested role; `null` for operation approvals. */
	declare role_id: string | null;
	/** Always set for operation approvals. */
	declare resource_id: string | null;
	declare resource_instance_id: string | null;
	declare reason: string | null;
	/**
	 * User who approved or denied the request; `null` before the review, after the user's deletion, and if an API key
	 * reviewed the request.
	 */
	declare reviewer_user_id: string | null;
	declare reviewed_at: Date | null;
	declare reviewer_comment: string | null;
	/** When the requested grant expires; `null` if it does not expire. */
	declare expires_at: Date | null;
	/** When a single-use operation approval was used; `null` until then. */
	declare consumed_at: Date | null;
	declare updated_at: Date;
}

/** A request with the user, role, resource and instance details shown in lists. */
export interface ListedRequest extends ElementRequest {
	readonly requesting_user_key: string;
	readonly requesting_user_email: string | null;
	readonly requesting_user_first_name: string | null;
	readonly requesting_user_last_name: string | null;
	readonly resource_key: string | null;
	readonly resource_instance_key: string | null;
	readonly role_key: string | null;
	readonly role_name: string | null;
}

/** Filter for requests. Absent fields do not filter. */
export interface RequestFilter {
	readonly ids?: readonly string[] | undefined;
	readonly config_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
	readonly requesting_user_ids?: readonly string[] | undefined;
	readonly role_ids?: readonly string[] | undefined;
	readonly resource_ids?: readonly string[] | undefined;
	readonly resource_instance_ids?: readonly string[] | undefined;
	readonly status?: RequestStatus | undefined;
	readonly type?: RequestType | undefined;
}

/** A request with its tenant and element. The element's key and name are `null` after the element's deletion. */
export interface PlacedRequest extends ListedRequest {
	readonly tenant_key: string;
	readonly element_key: string | null;
	readonly element_name: string | null;
}

/** Requests visible to a user: the user's own requests, and all requests about these instances. */
export interface OwnAndReviewed {
	readonly user_id: string;
	readonly resource_instance_ids: readonly string[];
}

/**
 * Returns the requests matching the filter, oldest first. Unless `seen` is `all`, returns only the requests visible to
 * this user.
 */
export function requestsBy(
	unit: ReadingUnit,
	filter: RequestFilter,
	seen: OwnAndReviewed | 'all' = 'all',
): RowQuery<ListedRequest> {
	const query = listedQuery(unit, filter).orderBy('element_requests.id');
	if (seen !== 'all') {
		query.where((either) => {
			either
				.where('element_requests.requesting_user_id', seen.user_id)
				.orWhereRaw('element_requests.resource_instance_id = any(?::uuid[])', [seen.resource_instance_ids]);
		});
	}
	return rowQuery(query.castTo<ListedRequest[]>());
}

/**
 * Returns the requests matching the filter, in all elements. Pending requests come first, from oldest to newest,
 * followed by all other requests from newest to oldest.
 */
export function requestsInTurn(unit: ReadingUnit, filter: RequestFilter): RowQuery<PlacedRequest> {
	const query = listedQuery(unit, filter)
		.join('tenants', sameEnvironment('element_requests', 'tenant_id', 'tenants'))
		.leftJoin('elements_configs', sameEnvironment('element_requests', 'config_id', 'elements_configs'))
		.select('tenants.key as tenant_key', 'elements_configs.key as element_key', 'elements_configs.name as element_name')
		.orderByRaw(
			`element_requests.status <> 'pending',
			case when element_requests.status = 'pending' then element_requests.id end,
			element_requests.id desc`,
		);
	return rowQuery(query.castTo<PlacedRequest[]>());
}

function listedQuery(unit: ReadingUnit, filter: RequestFilter): QueryBuilder<ElementRequest, ElementRequest[]> {
	const query = unit
		.query(ElementRequest)
		.join('users', sameEnvironment('element_requests', 'requesting_user_id', 'users'))
		.leftJoin('roles', sameEnvironment('element_requests', 'role_id', 'roles'))
		.leftJoin('resources', sameEnvironment('element_requests', 'resource_id', 'resources'))
		.leftJoin('resource_instances', sameEnvironment('element_requests', 'resource_instance_id', 'resource_instances'))
		.select('element_requests.*', 'users.key as requesting_user_key', 'users.email as requesting_user_email')
		.select('users.first_name as requesting_user_first_name', 'users.last_name as requesting_user_last_name')
		.select('roles.key as role_key', 'roles.name as role_name')
		.select('resources.key as resource_key', 'resource_instances.key as resource_instance_key');
	narrow(query, filter);
	return query;
}

function narrow(query: QueryBuilder<ElementRequest, ElementRequest[]>, filter: RequestFilter): void {
	whereIdsIn(query, {
		'element_requests.id': filter.ids,
		'element_requests.config_id': filter.config_ids,
		'element_requests.tenant_id': filter.tenant_ids,
		'element_requests.requesting_user_id': filter.requesting_user_ids,
		'element_requests.role_id': filter.role_ids,
		'element_requests.resource_id': filter.resource_ids,
		'element_requests.resource_instance_id': filter.resource_instance_ids,
	});
	if (filter.status !== undefined) query.where('element_requests.status', filter.status);
	if (filter.type !== undefined) query.where('element_requests.type', filter.type);
}

/** Returns the requests matching the filter as plain rows, without user, role and instance details, oldest first. */
export async function plainRequests(unit: ReadingUnit, filter: RequestFilter): Promise<readonly ElementRequest[]> {
	const query = unit.query(ElementRequest).orderBy('element_requests.id');
	narrow(query, filter);
	return query;
}

/** Returns true if a user has made at least `count` requests since a time. */
export async function hasRequested(
	unit: ReadingUnit,
	{ user_id, since, count }: { readonly user_id: string; readonly since: Date; readonly count: number },
): Promise<boolean> {
	const reached = await unit
		.query(ElementRequest)
		.where('element_requests.requesting_user_id', user_id)
		.where('element_requests.created_at', '>', since)
		.orderBy('element_requests.id')
		.offset(count - 1)
		.select('element_requests.id')
		.first();
	return reached !== undefined;
}

/** Inserts a request. Does not write to the change log. */
export async function insertRequest(
	unit: WritingUnit,
	columns: Columns<ElementRequest>,
): Promise<readonly ElementRequest[]> {
	return unit.insert(ElementRequest, [{ ...columns, ...unit.stamp() }], ({ id }) => String(id));
}

/** Updates request columns and sets `updated_at`. Does not write to the change log. Returns the current request. */
export async function patchRequest(
	unit: WritingUnit,
	row: ElementRequest,
	columns: Columns<ElementRequest>,
): Promise<ElementRequest> {
	const [after = row] = await unit
		.query(ElementRequest)
		.where('element_requests.id', row.id)
		.patch({ ...columns, updated_at: unit.now })
		.returning('*');
	return after;
}

/** Deletes these requests. Does not write to the change log. */
export async function deleteRequests(unit: WritingUnit, ids: readonly string[]): Promise<void> {
	await unit.query(ElementRequest).whereRaw('element_requests.id = any(?::uuid[])', [ids]).delete();
}
