/**
 * The part of the OPA Data API that decision points support. Requests contain the input for a document, and responses
 * contain its result.
 */

import { z } from 'zod';
import { BulkQuery, LocalAssignmentsQuery, PermissionsQuery, Query, UsersQuery } from './check.js';
import { noContextualFacts } from './contextual-facts.js';

const { page, per_page, ...filters } = LocalAssignmentsQuery.shape;

export const CheckInput = z.object({ input: Query });

/** Input for several checks: an array, or an object with the array in `checks`. */
export const BulkInput = z.object({ input: BulkQuery });

/**
 * Input for a user permission query. Contextual facts are rejected, because they do not affect the tenants in the
 * result.
 */
export const PermissionsInput = z.object({
	input: PermissionsQuery.extend({ contextual_facts: noContextualFacts }),
});

/** Input for an authorized user query. */
export const UsersInput = z.object({ input: UsersQuery });

/** Input for a role assignment query. */
export const AssignmentsInput = z.object({
	input: z.object({
		filters: z.object(filters).nullish(),
		pagination: z.object({ page, per_page }).nullish(),
	}),
});

/** Result document for one check. */
export const RootResult = z.object({
	result: z.object({
		allow: z.boolean(),
		result: z.boolean(),
		/** Models that allow the check. Present only if reasons are requested. */
		allowing_sources: z.array(z.string()).optional(),
		debugger_activated: z.boolean(),
		debug: z.unknown().optional(),
	}),
});
