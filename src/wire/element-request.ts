import { z } from 'zod';
import { environmentObject, InstanceReference, optional, Reference, Text, Timestamp, Uuid } from './common.js';
import { expiryShape, granting, shownExpiry } from './granting.js';
import { paginated } from './list.js';
import { pageShape } from './query.js';

/** The states of access requests and operation approvals (spec: States and transitions). */
export const RequestStatus = z.enum(['pending', 'approved', 'denied', 'canceled']);
export type RequestStatus = z.output<typeof RequestStatus>;

/** A request for a role in a tenant or on a resource instance (spec: Access request). */
export const AccessRequestCreate = granting({
	access_request_details: granting(
		{
			tenant: Reference,
			role: Reference,
			resource: optional(Reference),
			resource_instance: optional(InstanceReference),
			...expiryShape,
		},
		['element_config_id'],
	),
	reason: optional(Text),
}).meta({ id: 'AccessRequestCreate' });
export type AccessRequestCreate = z.output<typeof AccessRequestCreate>;

/** A request for the approval of an operation on a resource (spec: Operation approval). */
export const OperationApprovalCreate = granting({
	access_request_details: granting(
		{ tenant: Reference, resource: Reference, resource_instance: optional(InstanceReference), ...expiryShape },
		['element_config_id'],
	),
	reason: optional(Text),
}).meta({ id: 'OperationApprovalCreate' });
export type OperationApprovalCreate = z.output<typeof OperationApprovalCreate>;

/** A body that may be left out, as if it were empty. */
function orNothing<S extends z.ZodType<object>>(schema: S) {
	return schema.optional().transform((body): z.output<S> | Record<string, never> => body ?? {});
}

/**
 * What a reviewer says of an access request: a comment, another role than the one that was asked for, an earlier end. Or
 * nothing.
 */
export const AccessRequestReview = orNothing(
	granting({
		reviewer_comment: optional(Text),
		role: optional(Reference),
		...expiryShape,
	}),
).meta({ id: 'AccessRequestReview' });
export type AccessRequestReview = z.output<typeof AccessRequestReview>;

/** What a reviewer says of an operation approval: a comment, and an earlier end than was asked for. Or nothing. */
export const OperationApprovalReview = orNothing(granting({ reviewer_comment: optional(Text), ...expiryShape })).meta({
	id: 'OperationApprovalReview',
});

/** What a reviewer says of a request that is denied. */
export const RequestComment = orNothing(granting({ reviewer_comment: optional(Text) })).meta({ id: 'RequestComment' });
export type RequestComment = z.output<typeof RequestComment>;

/** What whoever cancels a request may say. It is read and not stored. */
export const RequestCancellation = z
	.object({ reason: optional(Text) })
	.optional()
	.meta({ id: 'RequestCancellation' });

const listed = {
	status: RequestStatus.optional(),
	resource: Reference.optional(),
	requesting_user: Reference.optional(),
	...pageShape,
};

/** Which access requests a list holds. A value that names nothing matches nothing. */
export const AccessRequestQuery = z.object({
	...listed,
	tenant: Reference.optional(),
	role: Reference.optional(),
	resource_instance_id: Reference.optional(),
});
export type AccessRequestQuery = z.output<typeof AccessRequestQuery>;

/** Which operation approvals a list holds. A value that names nothing matches nothing. */
export const OperationApprovalQuery = z.object({ ...listed, resource_instance: Reference.optional() });
export type OperationApprovalQuery = z.output<typeof OperationApprovalQuery>;

const reviewed = {
	reason: z.string().nullable(),
	requesting_user_id: Uuid,
	status: RequestStatus,
	reviewer_user_id: Uuid.nullable(),
	reviewed_at: Timestamp.nullable(),
	reviewer_comment: z.string().nullable(),
};

/** An access request. Its details are ids. */
export const AccessRequestRead = z
	.object({
		...environmentObject,
		...reviewed,
		type: z.literal('access_request'),
		access_request_details: z.object({
			tenant: Uuid,
			role: Uuid,
			resource: Uuid.nullable(),
			resource_instance: Uuid.nullable(),
			element_config_id: Uuid.nullable(),
			...shownExpiry,
		}),
	})
	.meta({ id: 'AccessRequestRead' });
export type AccessRequestRead = z.input<typeof AccessRequestRead>;

/** Who asks and where, as lists show it beside the ids. */
const requested = {
	requesting_user_key: z.string(),
	requesting_user_email: z.string().nullable(),
	requesting_user_first_name: z.string().nullable(),
	requesting_user_last_name: z.string().nullable(),
	resource_instance_key: z.string().nullable(),
};

/** An access request in a list: with who asks, and the keys of what they ask for. */
export const AccessRequestListed = z
	.object({
		...AccessRequestRead.shape,
		...requested,
		resource_key: z.string().nullable(),
		role_key: z.string(),
		role_name: z.string(),
	})
	.meta({ id: 'AccessRequestListed' });
export type AccessRequestListed = z.input<typeof AccessRequestListed>;

/** A page of access requests. */
export const AccessRequestPage = paginated(AccessRequestListed);

const approval = {
	...environmentObject,
	...reviewed,
	type: z.literal('operation_approval'),
	access_request_details: z.object({
		tenant: Uuid,
		resource: Uuid,
		resource_instance: Uuid.nullable(),
		element_config_id: Uuid.nullable(),
		...shownExpiry,
	}),
	consumed_at: Timestamp.optional().meta({
		description: 'When an approval that is good for one use was used; absent until then.',
	}),
};

/** An operation approval. Its details are ids. */
export const OperationApprovalRead = z.object(approval).meta({ id: 'OperationApprovalRead' });
export type OperationApprovalRead = z.input<typeof OperationApprovalRead>;

/** An operation approval in a list: with who asks, and the keys of what they ask about. */
export const OperationApprovalListed = z
	.object({
		...approval,
		...requested,
		resource_key: z.string(),
	})
	.meta({ id: 'OperationApprovalListed' });
export type OperationApprovalListed = z.input<typeof OperationApprovalListed>;

/** A page of operation approvals. */
export const OperationApprovalPage = paginated(OperationApprovalListed);
