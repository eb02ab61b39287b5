import { z } from 'zod';

/** Why the policy in force is not the complete policy of the newest schema. */
export const DegradedReason = z
	.enum(['compiling', 'failed', 'left_out'])
	.describe(
		'Whether the newest schema is being compiled, could not be compiled, or was compiled without some objects.',
	);
