/** Purpose of each element type, in words. */
export const elementTypes = {
	user_management: 'managing users',
	audit_log: 'reading the decision log',
	approval_flow: 'asking for a role',
	operation_approval: 'asking for an operation',
	approval_management: 'reviewing requests',
} as const;
