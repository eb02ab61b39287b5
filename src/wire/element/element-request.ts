import { z } from 'zod';
import { environmentObject, InstanceReference, optional, Reference, Text, Timestamp, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { pageShape } from '../query.js';
import { expiryShape, granting, shownExpiry } from '../schema/granting.js';

/** The states of access requests and operation approvals (spec: States and transitions). */
export const RequestStatus = z.enum(['pending', 'approved', 'denied', 'canceled']);
export type RequestStatus = z.output<typeof RequestStatus>;

/** What a request asks for: a role, or the approval of an operation. */
export const RequestType = z.enum(['access_request', 'operation_approval']);
export type RequestType = z.output<typeof RequestType>;

/** A request for a role in a tenant or on a resource instance (spec: Access request). */
export const AccessRequestCreate = granting({
	access_request_details: granting(
		{
			tenant: Reference.describe(
				'The tenant in which the role is asked for, by id or key: that of the session or of the path.',
			),
			role: Reference.describe('The role that is asked for: its id or key.'),
			resource: optional(Reference).describe(
				'The resource, by id or key; where there is no instance, information for the reviewer.',
			),
			resource_instance: optional(InstanceReference).describe(
				'The instance on which the role is asked for; without it, it is asked for in the tenant.',
			),
			...expiryShape,
		},
		['element_config_id'],
	).describe('Which role is asked for, where, and until when.'),
	reason: optional(Text).describe('Why the role is needed, for the reviewer.'),
}).meta({ id: 'AccessRequestCreate', description: 'A request for a role in a tenant or on a resource instance.' });
export type AccessRequestCreate = z.output<typeof AccessRequestCreate>;

/** A request for the approval of an operation on a resource (spec: Operation approval). */
export const OperationApprovalCreate = granting({
	access_request_details: granting(
		{
			tenant: Reference.describe('The tenant, by id or key: that of the session.'),
			resource: Reference.describe('The resource on which the operation is done: its id or key.'),
			resource_instance: optional(InstanceReference).describe(
				'The instance on which the operation is done; made if it does not exist.',
			),
			...expiryShape,
		},
		['element_config_id'],
	).describe('What is to be approved, where, and until when.'),
	reason: optional(Text).describe('Why the operation is needed, for the reviewer.'),
}).meta({ id: 'OperationApprovalCreate', description: 'A request for the approval of an operation on a resource.' });
export type OperationApprovalCreate = z.output<typeof OperationApprovalCreate>;

const comment = optional(Text).describe('A comment for the user who asked.');

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
		reviewer_comment: comment,
		role: optional(Reference).describe('The role to give in place of the one that was asked for: its id or key.'),
		...expiryShape,
	}),
).meta({ id: 'AccessRequestReview', description: 'What a reviewer says of an access request, if anything.' });
export type AccessRequestReview = z.output<typeof AccessRequestReview>;

/** What a reviewer says of an operation approval: a comment, and an earlier end than was asked for. Or nothing. */
export const OperationApprovalReview = orNothing(granting({ reviewer_comment: comment, ...expiryShape })).meta({
	id: 'OperationApprovalReview',
	description: 'What a reviewer says of an operation approval, if anything.',
});

/** What a reviewer says of a request that is denied. */
export const RequestComment = orNothing(granting({ reviewer_comment: comment })).meta({
	id: 'RequestComment',
	description: 'What a reviewer says of a request that is denied, if anything.',
});
export type RequestComment = z.output<typeof RequestComment>;

/** What whoever cancels a request may say. It is read and not stored. */
export const RequestCancellation = z
	.object({ reason: optional(Text).describe('Why it is canceled. It is read and not stored.') })
	.optional()
	.meta({ id: 'RequestCancellation', description: 'What whoever cancels a request may say.' });

const listed = {
	status: RequestStatus.optional().describe('Only requests in this state.'),
	resource: Reference.optional().describe('Only requests about this resource: its id or key.'),
	requesting_user: Reference.optional().describe('Only requests of this user: its id or key.'),
	...pageShape,
};

/** Which access requests a list holds. A value that names nothing matches nothing. */
export const AccessRequestQuery = z.object({
	...listed,
	tenant: Reference.optional().describe('Only requests in this tenant: its id or key.'),
	role: Reference.optional().describe('Only requests for this role: its id or key.'),
	resource_instance_id: Reference.optional().describe(
		'Only requests about this instance: its id, or `<resource key>:<instance key>`.',
	),
});
export type AccessRequestQuery = z.output<typeof AccessRequestQuery>;

/** Which operation approvals a list holds. A value that names nothing matches nothing. */
export const OperationApprovalQuery = z.object({
	...listed,
	resource_instance: Reference.optional().describe(
		'Only requests about this instance: its id, or `<resource key>:<instance key>`.',
	),
});
export type OperationApprovalQuery = z.output<typeof OperationApprovalQuery>;

const reviewed = {
	reason: z.string().nullable().describe('Why it was asked for.'),
	requesting_user_id: Uuid.describe('The id of the user who asks.'),
	status: RequestStatus.describe('The state: it moves once, from `pending` to one of the others.'),
	reviewer_user_id: Uuid.nullable().describe(
		'The id of the user who reviewed it; null until then, and where an API key did.',
	),
	reviewed_at: Timestamp.nullable().describe('When it was reviewed, in UTC; null until then.'),
	reviewer_comment: z.string().nullable().describe('What the reviewer said.'),
};

/** An access request. Its details are ids. */
export const AccessRequestRead = z
	.object({
		...environmentObject,
		...reviewed,
		type: z.literal('access_request').describe('Always `access_request`.'),
		access_request_details: z
			.object({
				tenant: Uuid.describe('The id of the tenant.'),
				role: Uuid.describe('The id of the role.'),
				resource: Uuid.nullable().describe('The id of the resource; null where none was named.'),
				resource_instance: Uuid.nullable().describe('The id of the instance; null for a role in the tenant.'),
				element_config_id: Uuid.nullable().describe('The id of the element; null once that was deleted.'),
				...shownExpiry,
			})
			.describe('What is asked for, by ids.'),
	})
	.meta({ id: 'AccessRequestRead', description: 'An access request. Its details are ids.' });
export type AccessRequestRead = z.input<typeof AccessRequestRead>;

/** Who asks and where, as lists show it beside the ids. */
const requested = {
	requesting_user_key: z.string().describe('The key of the user who asks.'),
	requesting_user_email: z.string().nullable().describe('The e-mail address of the user who asks.'),
	requesting_user_first_name: z.string().nullable().describe('The first name of the user who asks.'),
	requesting_user_last_name: z.string().nullable().describe('The last name of the user who asks.'),
	resource_instance_key: z.string().nullable().describe('The key of the instance; null where there is none.'),
};

/** An access request in a list: with who asks, and the keys of what they ask for. */
export const AccessRequestListed = z
	.object({
		...AccessRequestRead.shape,
		...requested,
		resource_key: z.string().nullable().describe('The key of the resource; null where none was named.'),
		role_key: z.string().describe('The key of the role.'),
		role_name: z.string().describe('The name of the role.'),
	})
	.meta({
		id: 'AccessRequestListed',
		description: 'An access request in a list: with who asks, and the keys of what they ask for.',
	});
export type AccessRequestListed = z.input<typeof AccessRequestListed>;

/** A page of access requests. */
export const AccessRequestPage = paginated(AccessRequestListed);

const approval = {
	...environmentObject,
	...reviewed,
	type: z.literal('operation_approval').describe('Always `operation_approval`.'),
	access_request_details: z
		.object({
			tenant: Uuid.describe('The id of the tenant.'),
			resource: Uuid.describe('The id of the resource.'),
			resource_instance: Uuid.nullable().describe('The id of the instance; null for a request about no instance.'),
			element_config_id: Uuid.nullable().describe('The id of the element; null once that was deleted.'),
			...shownExpiry,
		})
		.describe('What is to be approved, by ids.'),
	consumed_at: Timestamp.optional().meta({
		description: 'When an approval that is good for one use was used; absent until then.',
	}),
};

/** An operation approval. Its details are ids. */
export const OperationApprovalRead = z
	.object(approval)
	.meta({ id: 'OperationApprovalRead', description: 'An operation approval. Its details are ids.' });
export type OperationApprovalRead = z.input<typeof OperationApprovalRead>;

/** An operation approval in a list: with who asks, and the keys of what they ask about. */
export const OperationApprovalListed = z
	.object({
		...approval,
		...requested,
		resource_key: z.string().describe('The key of the resource.'),
	})
	.meta({
		id: 'OperationApprovalListed',
		description: 'An operation approval in a list: with who asks, and the keys of what they ask about.',
	});
export type OperationApprovalListed = z.input<typeof OperationApprovalListed>;

/** A page of operation approvals. */
export const OperationApprovalPage = paginated(OperationApprovalListed);

/** Which requests of all elements a list holds. A value that names nothing matches nothing. */
export const ElementRequestQuery = z.object({
	type: RequestType.optional().describe('Only access requests, or only operation approvals.'),
	element: Reference.optional().describe('Only requests in this element: its id or key.'),
	tenant: Reference.optional().describe('Only requests in this tenant: its id or key.'),
	...listed,
});
export type ElementRequestQuery = z.output<typeof ElementRequestQuery>;

/** Where a request was made, as the list of all shows it beside the rest. */
const placed = {
	tenant_key: z.string().describe('The key of the tenant.'),
	element_key: z.string().nullable().describe('The key of the element; null once that was deleted.'),
	element_name: z.string().nullable().describe('The name of the element; null once that was deleted.'),
};

/** A page of the requests of all elements. */
export const ElementRequestPage = paginated(
	z.union([
		AccessRequestListed.extend(placed).meta({
			id: 'PlacedAccessRequest',
			description: 'An access request in the list of all: with its tenant and its element.',
		}),
		OperationApprovalListed.extend(placed).meta({
			id: 'PlacedOperationApproval',
			description: 'An operation approval in the list of all: with its tenant and its element.',
		}),
	]),
);
export type ElementRequestListed = z.input<typeof ElementRequestPage>['data'][number];

/** A request of either type. */
export const ElementRequestRead = z.union([AccessRequestRead, OperationApprovalRead]);
export type ElementRequestRead = z.input<typeof ElementRequestRead>;
