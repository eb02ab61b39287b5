import type { ElementConfig } from '../model/api-types.js';

/** The two kinds of requests: for roles, and for the approval of an operation. */
export interface RequestKind {
	/** The last part of the path of its requests. */
	readonly collection: 'access_requests' | 'operation_approval';
	/** Whether it asks for a role, which a reviewer may change. */
	readonly hasRole: boolean;
	/** The query parameter that narrows a list to an instance. */
	readonly instanceFilter: string;
}

const accessRequests: RequestKind = {
	collection: 'access_requests',
	hasRole: true,
	instanceFilter: 'resource_instance_id',
};
const operationApprovals: RequestKind = {
	collection: 'operation_approval',
	hasRole: false,
	instanceFilter: 'resource_instance',
};

/** The kind of the requests that are made in an element; `null` for one in which none are. */
export function requestKind({ elements_type }: Pick<ElementConfig, 'elements_type'>): RequestKind | null {
	if (elements_type === 'approval_flow') return accessRequests;
	return elements_type === 'operation_approval' ? operationApprovals : null;
}
