import type { ElementConfig } from '../model/api-types.js';

/** Request kind: access request or operation approval. */
export interface RequestKind {
	/** Last path segment for these requests. */
	readonly collection: 'access_requests' | 'operation_approval';
	/** True if these requests ask for a role. A reviewer may change this role. */
	readonly hasRole: boolean;
	/** Query parameter that filters a list by instance. */
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

/** Returns the request kind that an element accepts; `null` if it accepts none. */
export function requestKind({ elements_type }: Pick<ElementConfig, 'elements_type'>): RequestKind | null {
	if (elements_type === 'approval_flow') return accessRequests;
	return elements_type === 'operation_approval' ? operationApprovals : null;
}
