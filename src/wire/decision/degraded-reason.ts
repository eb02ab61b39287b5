import { z } from 'zod';

/** Reason why the active policy is not the complete policy for the newest schema. */
export const DegradedReason = z
	.enum(['compiling', 'failed', 'left_out'])
	.describe('The newest schema is being compiled, failed to compile, or was compiled without some objects.');
