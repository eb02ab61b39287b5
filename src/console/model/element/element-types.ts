/** Name of each element type. */
export const elementTypes = {
	user_management: 'User management',
	audit_log: 'Audit log',
	approval_flow: 'Access requests',
	operation_approval: 'Operation approval',
	approval_management: 'Request review',
} as const;
