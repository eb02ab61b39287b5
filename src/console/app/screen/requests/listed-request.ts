import type { components } from '#management-api';

/** A request in the list of all elements. */
export type ListedRequest =
	| components['schemas']['PlacedAccessRequest']
	| components['schemas']['PlacedOperationApproval'];
