import {
	createAccessRequest,
	createOperationApproval,
	readAccessRequest,
	readListedAccessRequest,
	readListedApproval,
	readOperationApproval,
} from '../../domain/element/request.js';
import { Reference } from '../../wire/common.js';
import {
	AccessRequestCreate,
	AccessRequestPage,
	AccessRequestQuery,
	AccessRequestRead,
	AccessRequestReview,
	OperationApprovalCreate,
	OperationApprovalPage,
	OperationApprovalQuery,
	OperationApprovalRead,
	OperationApprovalReview,
} from '../../wire/element/element-request.js';
import { EnvironmentPath } from '../access.js';
import { type RequestCaller, requestEndpoints } from './request-endpoints.js';

const accessRequests = {
	type: 'access_request',
	tag: 'Access requests',
	name: 'AccessRequest',
	title: 'access request',
	body: AccessRequestCreate,
	reviewBody: AccessRequestReview,
	query: AccessRequestQuery,
	returns: AccessRequestRead,
	page: AccessRequestPage,
	create: {
		summary: 'Request a role',
		example: { access_request_details: { tenant: 'acme', role: 'editor' }, reason: 'I take over the reports.' },
	},
	review: {
		summary: 'Update the reviewer comment or the role',
		example: { reviewer_comment: 'Only to read.', role: 'viewer' },
	},
	approval: 'The role is assigned in the same revision. A role in the body replaces the requested role.',
	handleCreate: createAccessRequest,
	read: readAccessRequest,
	readListed: readListedAccessRequest,
} as const;

const operationApprovals = {
	type: 'operation_approval',
	tag: 'Operation approvals',
	name: 'OperationApproval',
	title: 'operation approval',
	body: OperationApprovalCreate,
	reviewBody: OperationApprovalReview,
	query: OperationApprovalQuery.transform((query) => ({ ...query, resource_instance_id: query.resource_instance })),
	returns: OperationApprovalRead,
	page: OperationApprovalPage,
	create: {
		summary: 'Request approval for an operation',
		example: {
			access_request_details: { tenant: 'acme', resource: 'document', resource_instance: 'budget' },
			reason: 'To close the books.',
		},
	},
	review: {
		summary: 'Update the reviewer comment or set an earlier expiry',
		example: { reviewer_comment: 'Until Friday.' },
	},
	approval: 'The requesting user gets the role `_Approved_` on the instance.',
	handleCreate: createOperationApproval,
	read: readOperationApproval,
	readListed: readListedApproval,
} as const;

const apiKey: RequestCaller = {
	access: { read: 'environment.read', write: 'environment.write' },
	ending: 'OfUser',
	description:
		"The caller acts as the user in the path, in the tenant in the path; the application's API key is " +
		'sufficient. Reviewers see all requests in the tenant, and other users see only their own.',
};

const signedInUser: RequestCaller = {
	access: { read: 'element.read', write: 'element.write' },
	ending: '',
	description: "Reviewers see all requests in the session's tenant, and other users see only their own.",
};

const ElementPath = EnvironmentPath.extend({ elements_config_id: Reference });
const ActorPath = ElementPath.extend({ user_id: Reference, tenant_id: Reference });
const element = '/v2/elements/:proj_id/:env_id/config/:elements_config_id';

/** Access requests and operation approvals of users (docs/develop/elements.md). */
export const userRequests = [
	...requestEndpoints(accessRequests, apiKey, {
		list: '/v2/facts/:proj_id/:env_id/access_requests/:elements_config_id/user/:user_id/tenant/:tenant_id',
		listParams: ActorPath,
		memberParams: ActorPath.extend({ access_request_id: Reference }),
	}),
	...requestEndpoints(accessRequests, signedInUser, {
		list: `${element}/access_requests`,
		listParams: ElementPath,
		memberParams: ElementPath.extend({ access_request_id: Reference }),
	}),
	...requestEndpoints(operationApprovals, signedInUser, {
		list: `${element}/operation_approval`,
		listParams: ElementPath,
		memberParams: ElementPath.extend({ operation_approval_id: Reference }),
	}),
];
