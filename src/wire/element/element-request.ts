import { z } from 'zod';
import { environmentObject, InstanceReference, optional, Reference, Text, Timestamp, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { pageShape } from '../query.js';
import { expiryShape, granting, shownExpiry } from '../schema/granting.js';

/** States for access requests and operation approvals. */
export const RequestStatus = z.enum(['pending', 'approved', 'denied', 'canceled']);
export type RequestStatus = z.output<typeof RequestStatus>;

/** Request types: a request for a role, or for an operation approval. */
export const RequestType = z.enum(['access_request', 'operation_approval']);
export type RequestType = z.output<typeof RequestType>;

export const AccessRequestCreate = granting({
	access_request_details: granting(
		{
			tenant: Reference.describe('Tenant for the role, by id or key. Must be the tenant in the session or the path.'),
			role: Reference.describe('Requested role: id or key.'),
			resource: optional(Reference).describe(
				'Resource, by id or key; without an instance, it only informs the reviewer.',
			),
			resource_instance: optional(InstanceReference).describe(
				'Instance for the role; without it, the role is requested in the tenant.',
			),
			...expiryShape,
		},
		['element_config_id'],
	).describe('The requested role, its scope and its expiry.'),
	reason: optional(Text).describe('Why the role is needed, for the reviewer.'),
}).meta({ id: 'AccessRequestCreate', description: 'A request for a role in a tenant or on a resource instance.' });
export type AccessRequestCreate = z.output<typeof AccessRequestCreate>;

export const OperationApprovalCreate = granting({
	access_request_details: granting(
		{
			tenant: Reference.describe('Tenant, by id or key. Must be the session tenant.'),
			resource: Reference.describe('Resource for the operation: id or key.'),
			resource_instance: optional(InstanceReference).describe(
				'Instance for the operation; created if it does not exist.',
			),
			...expiryShape,
		},
		['element_config_id'],
	).describe('The operation to approve, its scope and its expiry.'),
	reason: optional(Text).describe('Why the operation is needed, for the reviewer.'),
}).meta({ id: 'OperationApprovalCreate', description: 'A request to approve an operation on a resource.' });
export type OperationApprovalCreate = z.output<typeof OperationApprovalCreate>;

const comment = optional(Text).describe('Comment for the requesting user.');

/** Makes the body optional. An absent body is treated as empty. */
function orNothing<S extends z.ZodType<object>>(schema: S) {
	return schema.optional().transform((body): z.output<S> | Record<string, never> => body ?? {});
}

/** Access request review. It may contain a comment, a different role and an earlier expiry. */
export const AccessRequestReview = orNothing(
	granting({
		reviewer_comment: comment,
		role: optional(Reference).describe('Role to grant instead of the requested role: id or key.'),
		...expiryShape,
	}),
).meta({ id: 'AccessRequestReview', description: 'An optional access request review.' });
export type AccessRequestReview = z.output<typeof AccessRequestReview>;

/** Operation approval review. It may contain a comment and an earlier expiry. */
export const OperationApprovalReview = orNothing(granting({ reviewer_comment: comment, ...expiryShape })).meta({
	id: 'OperationApprovalReview',
	description: 'An optional operation approval review.',
});

/** Comment for denying a request. */
export const RequestComment = orNothing(granting({ reviewer_comment: comment })).meta({
	id: 'RequestComment',
	description: 'An optional comment on a denied request.',
});

/** Optional reason for canceling a request. The reason is accepted but not stored. */
export const RequestCancellation = z
	.object({ reason: optional(Text).describe('Cancellation reason. Accepted but not stored.') })
	.optional()
	.meta({ id: 'RequestCancellation', description: 'An optional cancellation reason.' });

const listed = {
	status: RequestStatus.optional().describe('Only requests in this state.'),
	resource: Reference.optional().describe('Only requests about this resource: id or key.'),
	requesting_user: Reference.optional().describe('Only requests from this user: id or key.'),
	...pageShape,
};

/** Filters for access requests. If a value matches no object, no request matches. */
export const AccessRequestQuery = z.object({
	...listed,
	tenant: Reference.optional().describe('Only requests in this tenant: id or key.'),
	role: Reference.optional().describe('Only requests for this role: id or key.'),
	resource_instance_id: Reference.optional().describe(
		'Only requests about this instance: id, or `<resource key>:<instance key>`.',
	),
});
export type AccessRequestQuery = z.output<typeof AccessRequestQuery>;

/** Filters for operation approvals. If a value matches no object, no request matches. */
export const OperationApprovalQuery = z.object({
	...listed,
	resource_instance: Reference.optional().describe(
		'Only requests about this instance: id, or `<resource key>:<instance key>`.',
	),
});

const reviewed = {
	reason: z.string().nullable().describe('Reason given by the requesting user.'),
	requesting_user_id: Uuid.describe('Requesting user id.'),
	status: RequestStatus.describe('State, which changes once, from `pending` to a final state.'),
	reviewer_user_id: Uuid.nullable().describe(
		'Id of the reviewing user; null before the review, or if an API key reviewed it.',
	),
	reviewed_at: Timestamp.nullable().describe('Review time, in UTC; null before the review.'),
	reviewer_comment: z.string().nullable().describe('Reviewer comment.'),
};

export const AccessRequestRead = named('AccessRequestRead', 'An access request. Its details are ids.', {
	...environmentObject,
	...reviewed,
	type: z.literal('access_request').describe('Always `access_request`.'),
	access_request_details: z
		.object({
			tenant: Uuid.describe('Tenant id.'),
			role: Uuid.describe('Role id.'),
			resource: Uuid.nullable().describe('Resource id; null if the request has no resource.'),
			resource_instance: Uuid.nullable().describe('Instance id; null for a tenant role.'),
			element_config_id: Uuid.nullable().describe('Element id; null after the element is deleted.'),
			...shownExpiry,
		})
		.describe('The requested role and its scope, by ids.'),
});
export type AccessRequestRead = z.input<typeof AccessRequestRead>;

/** The requesting user and the instance. Lists contain them in addition to their ids. */
const requested = {
	requesting_user_key: z.string().describe('Key of the requesting user.'),
	requesting_user_email: z.string().nullable().describe('E-mail address of the requesting user.'),
	requesting_user_first_name: z.string().nullable().describe("The requesting user's first name."),
	requesting_user_last_name: z.string().nullable().describe("The requesting user's last name."),
	resource_instance_key: z.string().nullable().describe('Instance key; null if there is no instance.'),
};

export const AccessRequestListed = named(
	'AccessRequestListed',
	'An access request in a list, with the requesting user and the object keys.',
	{
		...AccessRequestRead.shape,
		...requested,
		resource_key: z.string().nullable().describe('Resource key; null if the request has no resource.'),
		role_key: z.string().describe('Role key.'),
		role_name: z.string().describe('Role name.'),
	},
);
export type AccessRequestListed = z.input<typeof AccessRequestListed>;

export const AccessRequestPage = paginated(AccessRequestListed);

const approval = {
	...environmentObject,
	...reviewed,
	type: z.literal('operation_approval').describe('Always `operation_approval`.'),
	access_request_details: z
		.object({
			tenant: Uuid.describe('Tenant id.'),
			resource: Uuid.describe('Resource id.'),
			resource_instance: Uuid.nullable().describe('Instance id; null for a request without an instance.'),
			element_config_id: Uuid.nullable().describe('Element id; null after the element is deleted.'),
			...shownExpiry,
		})
		.describe('The operation to approve, by ids.'),
	consumed_at: Timestamp.optional().describe('Time at which a single-use approval was used; absent until then.'),
};

export const OperationApprovalRead = named(
	'OperationApprovalRead',
	'An operation approval. Its details are ids.',
	approval,
);
export type OperationApprovalRead = z.input<typeof OperationApprovalRead>;

export const OperationApprovalListed = named(
	'OperationApprovalListed',
	'An operation approval in a list, with the requesting user and the object keys.',
	{
		...approval,
		...requested,
		resource_key: z.string().describe('Resource key.'),
	},
);
export type OperationApprovalListed = z.input<typeof OperationApprovalListed>;

export const OperationApprovalPage = paginated(OperationApprovalListed);

/** Filters for requests in all elements. If a value matches no object, no request matches. */
export const ElementRequestQuery = z.object({
	type: RequestType.optional().describe('Only access requests, or only operation approvals.'),
	element: Reference.optional().describe('Only requests in this element: id or key.'),
	tenant: Reference.optional().describe('Only requests in this tenant: id or key.'),
	...listed,
});

/** A request's tenant and element. The list for all elements contains them. */
const placed = {
	tenant_key: z.string().describe('Tenant key.'),
	element_key: z.string().nullable().describe('Element key; null after the element is deleted.'),
	element_name: z.string().nullable().describe('Element name; null after the element is deleted.'),
};

export const ElementRequestPage = paginated(
	z.union([
		AccessRequestListed.extend(placed).meta({
			id: 'PlacedAccessRequest',
			description: 'An access request in the list for all elements, with its tenant and element.',
		}),
		OperationApprovalListed.extend(placed).meta({
			id: 'PlacedOperationApproval',
			description: 'An operation approval in the list for all elements, with its tenant and element.',
		}),
	]),
);
export type ElementRequestListed = z.input<typeof ElementRequestPage>['data'][number];

/** A request, of either type. */
export const ElementRequestRead = z.union([AccessRequestRead, OperationApprovalRead]);
export type ElementRequestRead = z.input<typeof ElementRequestRead>;
