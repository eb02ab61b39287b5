import type { components } from '#management-api';

/** Request in the list of all elements. */
export type ListedRequest =
	| components['schemas']['PlacedAccessRequest']
	| components['schemas']['PlacedOperationApproval'];
