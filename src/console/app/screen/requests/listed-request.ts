import type { components } from '#management-api';

/** Request from any element. */
export type ListedRequest =
	| components['schemas']['PlacedAccessRequest']
	| components['schemas']['PlacedOperationApproval'];
