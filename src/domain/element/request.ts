import { Failure, forbidden, notFound } from '../../failure.js';
import type { RowQuery } from '../../store/query/row-query.js';
import {
	ElementRequest,
	type ListedRequest,
	type PlacedRequest,
	plainRequests,
	type RequestFilter,
	requestsBy,
} from '../../store/table/element/element-request.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { Resource } from '../../store/table/resource.js';
import { Role } from '../../store/table/role.js';
import { isMember } from '../../store/table/tenant-user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId } from '../../wire/common.js';
import type {
	AccessRequestCreate,
	AccessRequestListed,
	AccessRequestRead,
	AccessRequestReview,
	ElementRequestListed,
	ElementRequestRead,
	OperationApprovalCreate,
	OperationApprovalListed,
	OperationApprovalRead,
	RequestType,
} from '../../wire/element/element-request.js';
import { asDate } from '../as-date.js';
import { assignForRequest } from '../facts/assignment.js';
import type { ActingUser } from './level.js';
import { requireEnd, shortened } from './request-end.js';
import { changeRequest, createRequest } from './request-record.js';
import {
	decideAdministeredMove,
	decideMove,
	type Move,
	type Mover,
	requirePending,
	transitions,
} from './request-state.js';
import {
	ensureInstance,
	findOtherRole,
	findOwnInstance,
	findRequestedRole,
	requireOwnTenant,
} from './request-target.js';
import { reviewedBy } from './reviewer.js';
import { approvedRole, resourceSetting, selfReviewSetting } from './setting.js';
import { announceRequest } from './webhook-event.js';

const elementsTypes = { access_request: 'approval_flow', operation_approval: 'operation_approval' } as const;

/** Converts an access request to its API object. */
export function readAccessRequest(unit: ReadingUnit, row: ElementRequest): AccessRequestRead {
	return { ...row, ...unit.scope, type: 'access_request', access_request_details: accessDetails(row) };
}

function accessDetails(row: ElementRequest) {
	const { tenant_id, role_id, resource_id, resource_instance_id, config_id, expires_at } = row;
	return {
		tenant: tenant_id,
		role: role_id ?? '',
		resource: resource_id,
		resource_instance: resource_instance_id,
		element_config_id: config_id,
		expires_at: expires_at ?? undefined,
	};
}

/** Converts an access request to its list entry. */
export function readListedAccessRequest(unit: ReadingUnit, row: ListedRequest): AccessRequestListed {
	const { role_key, role_name } = row;
	return { ...row, ...readAccessRequest(unit, row), role_key: role_key ?? '', role_name: role_name ?? '' };
}

/** Converts an operation approval to its API object. */
export function readOperationApproval(unit: ReadingUnit, row: ElementRequest): OperationApprovalRead {
	const consumed_at = row.consumed_at ?? undefined;
	return {
		...row,
		...unit.scope,
		type: 'operation_approval',
		access_request_details: approvalDetails(row),
		consumed_at,
	};
}

function approvalDetails(row: ElementRequest) {
	const { tenant_id, resource_id, resource_instance_id, config_id, expires_at } = row;
	return {
		tenant: tenant_id,
		resource: resource_id ?? '',
		resource_instance: resource_instance_id,
		element_config_id: config_id,
		expires_at: expires_at ?? undefined,
	};
}

/** Notifies the element's webhook about a new request or a new state. Returns the request. */
async function announced(unit: WritingUnit, config: ElementsConfig, request: ElementRequest): Promise<ElementRequest> {
	const details = request.type === 'access_request' ? accessDetails(request) : approvalDetails(request);
	await announceRequest(unit, config, request, details);
	return request;
}

/** Converts an operation approval to its list entry. */
export function readListedApproval(unit: ReadingUnit, row: ListedRequest): OperationApprovalListed {
	const { resource_key, consumed_at } = row;
	const approval = readOperationApproval(unit, row);
	return { ...row, ...approval, resource_key: resource_key ?? '', consumed_at: consumed_at ?? undefined };
}

/** Converts either request type to its API object. */
export function readElementRequest(unit: ReadingUnit, row: ElementRequest): ElementRequestRead {
	return row.type === 'access_request' ? readAccessRequest(unit, row) : readOperationApproval(unit, row);
}

/** Converts either request type to an entry in the combined list. */
export function readPlacedRequest(unit: ReadingUnit, row: PlacedRequest): ElementRequestListed {
	const { tenant_key, element_key, element_name } = row;
	const place = { tenant_key, element_key, element_name };
	return row.type === 'access_request'
		? { ...readListedAccessRequest(unit, row), ...place }
		: { ...readListedApproval(unit, row), ...place };
}

/** Returns the element in a path. Throws `not_found`, and `invalid` if it does not accept this request type. */
export async function findRequestElement(
	unit: ReadingUnit,
	reference: string,
	type: RequestType,
): Promise<ElementsConfig> {
	const config = await unit.find(ElementsConfig, reference);
	if (config.elements_type === elementsTypes[type]) return config;
	const message = `the element \`${config.key}\` has the type \`${config.elements_type}\`, not \`${elementsTypes[type]}\``;
	throw new Failure('invalid', message);
}

/**
 * Requests a role in the actor's tenant or on an instance there. Throws `forbidden` for a user who is not a member,
 * `invalid` for a different tenant or an unsuitable role, and `not_found` for a missing object.
 */
export async function createAccessRequest(
	unit: WritingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	{ access_request_details: details, reason }: AccessRequestCreate,
): Promise<ElementRequest> {
	await requireOwnTenant(unit, actor, details.tenant);
	const instance = details.resource_instance
		? await findOwnInstance(unit, actor, details.resource, details.resource_instance)
		: null;
	const resource = details.resource ? await unit.find(Resource, details.resource) : null;
	const role = await findRequestedRole(unit, details.role, instance?.resource_id ?? null);
	const request = await createRequest(unit, config, actor, {
		type: 'access_request',
		role_id: role.id,
		resource_id: instance?.resource_id ?? resource?.id ?? null,
		resource_instance_id: instance?.id ?? null,
		reason: reason ?? null,
		expires_at: asDate(details.expires_at),
	});
	return announced(unit, config, request);
}

/**
 * Requests approval for an operation on a resource. Creates a missing instance in the actor's tenant, so reviewers
 * can be assigned on it. Throws like `createAccessRequest`.
 */
export async function createOperationApproval(
	unit: WritingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	{ access_request_details: details, reason }: OperationApprovalCreate,
): Promise<ElementRequest> {
	const tenant = await requireOwnTenant(unit, actor, details.tenant);
	const resource = await unit.find(Resource, details.resource);
	const named = config.settings[resourceSetting];
	if (named !== undefined && named !== resource.key && named !== resource.id) {
		throw new Failure('invalid', `the element \`${config.key}\` is for the resource \`${named}\``);
	}
	const instance = details.resource_instance
		? await ensureInstance(unit, tenant, resource, details.resource_instance)
		: null;
	const request = await createRequest(unit, config, actor, {
		type: 'operation_approval',
		role_id: null,
		resource_id: resource.id,
		resource_instance_id: instance?.id ?? null,
		reason: reason ?? null,
		expires_at: asDate(details.expires_at),
	});
	return announced(unit, config, request);
}

/**
 * Returns an element's matching requests in the actor's tenant, oldest first. Includes only requests that the actor may
 * see.
 */
export async function visibleRequests(
	unit: ReadingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	filter: RequestFilter,
): Promise<RowQuery<ListedRequest>> {
	const reviewed = await reviewedBy(unit, config, actor);
	const seen = reviewed === 'all' ? 'all' : { user_id: actor.user_id, resource_instance_ids: [...reviewed.instances] };
	const own = { config_ids: [config.id], tenant_ids: [actor.tenant_id] };
	const tenant_ids = filter.tenant_ids?.filter((id) => id === actor.tenant_id) ?? own.tenant_ids;
	return requestsBy(unit, { ...filter, ...own, tenant_ids }, seen);
}

/**
 * Returns an element's request in the actor's tenant. Throws `not_found` if it does not exist or the actor may not see
 * it. Reviewers see the requests that they review; other users see only their own.
 */
export async function findVisibleRequest(
	unit: ReadingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	reference: string,
): Promise<{ readonly request: ElementRequest; readonly mover: Mover }> {
	const id = asId(reference);
	const filter = { config_ids: [config.id], tenant_ids: [actor.tenant_id] };
	const [request] = id === null ? [] : await plainRequests(unit, { ...filter, ids: [id] });
	if (request === undefined) throw notFound(ElementRequest.title, reference);
	const reviewed = await reviewedBy(unit, config, actor);
	const reviews = reviewed === 'all' || reviewed.reviews(request);
	if (!reviews && request.requesting_user_id !== actor.user_id) throw notFound(ElementRequest.title, reference);
	return {
		request,
		mover: { user_id: actor.user_id, reviews, self_review: config.settings[selfReviewSetting] === true },
	};
}

/**
 * Approves, denies or cancels a request, and applies the consequences in the same unit. An approved access request
 * assigns its role. An approved operation assigns `_Approved_` on its instance. The assignment ends at the earliest
 * expiry from the request, the reviewer and the element. If the same user repeats a move, nothing changes. Throws
 * `not_found`, `forbidden`, `conflict`, and `invalid` for a role that cannot replace the requested role or for a later
 * expiry.
 */
export async function moveRequest(
	unit: WritingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	reference: string,
	move: Move,
	review: AccessRequestReview = {},
): Promise<ElementRequest> {
	const { request, mover } = await findVisibleRequest(unit, config, actor, reference);
	if (!decideMove(request, move, mover)) return request;
	return settleRequest(unit, config, request, move, review, actor.user_id);
}

/**
 * Approves or denies a request in any element, for environment administrators, who are not users in the environment.
 * Repeating the move changes nothing. Throws `not_found`, `conflict`, and `invalid` for a role that cannot replace the
 * requested role or for a later expiry.
 */
export async function decideRequest(
	unit: WritingUnit,
	reference: string,
	move: Exclude<Move, 'cancel'>,
	review: AccessRequestReview,
): Promise<ElementRequest> {
	const id = asId(reference);
	const [request] = id === null ? [] : await plainRequests(unit, { ids: [id] });
	if (request === undefined) throw notFound(ElementRequest.title, reference);
	if (request.type === 'operation_approval' && review.role !== undefined) {
		throw new Failure('invalid', `an operation approval has no role, got \`${review.role}\``);
	}
	if (!decideAdministeredMove(request, move)) return request;
	// INVARIANT: a pending request has an element, because deleting the element cancels its pending requests.
	const config = await unit.find(ElementsConfig, request.config_id ?? '');
	return settleRequest(unit, config, request, move, review, null);
}

/** Records the decision on a pending request, and grants an approval. `reviewer_user_id` is null for an API key. */
async function settleRequest(
	unit: WritingUnit,
	config: ElementsConfig,
	request: ElementRequest,
	move: Move,
	review: AccessRequestReview,
	reviewer_user_id: string | null,
): Promise<ElementRequest> {
	if (move === 'approve') await requireRequester(unit, request);
	const { by, to } = transitions[move];
	const role_id = review.role === undefined ? request.role_id : (await findOtherRole(unit, request, review.role)).id;
	const expires_at = move === 'approve' ? requireEnd(unit, config, request, review) : request.expires_at;
	const after = await changeRequest(unit, request, {
		status: to,
		role_id,
		expires_at,
		...(by === 'reviewer' && {
			reviewer_user_id,
			reviewed_at: unit.now,
			reviewer_comment: review.reviewer_comment ?? request.reviewer_comment,
		}),
	});
	if (move === 'approve') await grantRequest(unit, after);
	return announced(unit, config, after);
}

/**
 * Changes the reviewer's comment. While the request is pending, also changes the requested role and sets an earlier
 * expiry. Throws like `moveRequest`.
 */
export async function reviewRequest(
	unit: WritingUnit,
	config: ElementsConfig,
	actor: ActingUser,
	reference: string,
	{ reviewer_comment, role, expires_at: ending }: AccessRequestReview,
): Promise<ElementRequest> {
	const { request, mover } = await findVisibleRequest(unit, config, actor, reference);
	if (!mover.reviews) throw forbidden('only reviewers can change a request');
	if (request.requesting_user_id === actor.user_id && !mover.self_review) {
		throw forbidden('users cannot review their own requests');
	}
	if (role !== undefined || ending !== undefined) requirePending(request);
	const role_id = role === undefined ? request.role_id : (await findOtherRole(unit, request, role)).id;
	const expires_at = shortened(request, ending);
	return changeRequest(unit, request, {
		role_id,
		expires_at,
		reviewer_comment: reviewer_comment ?? request.reviewer_comment,
	});
}

/** Throws `conflict` if the requester has left the tenant, because an approval would make them a member again. */
export async function requireRequester(unit: ReadingUnit, request: ElementRequest): Promise<void> {
	const { requesting_user_id: user_id, tenant_id } = request;
	if (await isMember(unit, { user_id, tenant_id })) return;
	throw new Failure('conflict', 'the requesting user is no longer a member of the tenant');
}

/** Grants the approved role to the requester. */
export async function grantRequest(unit: WritingUnit, request: ElementRequest): Promise<void> {
	const { id, requesting_user_id: user, tenant_id: tenant, resource_instance_id, resource_id } = request;
	const role = request.role_id ?? (await findApprovedRole(unit, resource_id ?? ''));
	// An approval without an instance, or for a resource without the role, is only recorded.
	if (role === null || (request.type === 'operation_approval' && resource_instance_id === null)) return;
	const resource_instance = resource_instance_id ?? undefined;
	const expires_at = request.expires_at?.toISOString();
	await assignForRequest(unit, { user, role, tenant, resource_instance, expires_at }, id);
}

async function findApprovedRole(unit: ReadingUnit, resource_id: string): Promise<string | null> {
	return (await unit.findMany(Role, [approvedRole], { resource_id })).get(approvedRole)?.id ?? null;
}
