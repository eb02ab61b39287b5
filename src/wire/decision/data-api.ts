/** OPA's Data API as far as a decision point speaks it: questions are the input of documents, answers their results. */

import { z } from 'zod';
import { BulkQuery, LocalAssignmentsQuery, PermissionsQuery, Query, UsersQuery } from './check.js';

const { page, per_page, ...filters } = LocalAssignmentsQuery.shape;

/** The question of one check. */
export const CheckInput = z.object({ input: Query });

/** The question of many checks: an array of them, or the array as member `checks`. */
export const BulkInput = z.object({ input: BulkQuery });

/** The question what a user may do. */
export const PermissionsInput = z.object({ input: PermissionsQuery });

/** The question who may do an action on a resource. */
export const UsersInput = z.object({ input: UsersQuery });

/** The question which roles are assigned. */
export const AssignmentsInput = z.object({
	input: z.object({
		filters: z.object(filters).nullish(),
		pagination: z.object({ page, per_page }).nullish(),
	}),
});

/** The document of one check. */
export const RootResult = z.object({
	result: z.object({
		allow: z.boolean(),
		result: z.boolean(),
		/** The models that allow; only with reasons. */
		allowing_sources: z.array(z.string()).optional(),
		debugger_activated: z.boolean(),
		debug: z.unknown().optional(),
	}),
});

/** The body of a failure, as OPA words it. */
export const DataApiFailure = z.object({ code: z.string(), message: z.string() });
