/** Element settings that the server interprets, and the names of the objects it creates for them. */

/** Setting on an `approval_flow` element: the user management element whose owners review its requests. */
export const reviewersSetting = 'user_management_element';
/** Setting on a user management element: its linked `approval_flow` element. */
export const requestsSetting = 'access_request_element';
/** Setting on an `operation_approval` element: the resource whose operations need approval. */
export const resourceSetting = 'resource';

/** Reviewer role for operation approvals, on resource instances. */
export const reviewerRole = '_Reviewer_';
/** Role for approved users, on resource instances. */
export const approvedRole = '_Approved_';
/** Action granted by `approvedRole`. */
export const operateAction = 'operate';

/** Setting on an `operation_approval` element: an additional action for `approvedRole`. */
export const actionSetting = 'action';

/** Setting on an `operation_approval` element: each approval can be used only once. */
export const singleUseSetting = 'single_use';

/** Setting on an element: maximum lifetime for its approvals, in seconds. */
export const durationSetting = 'max_duration';

/** Setting on an element: requesters may review their own requests. */
export const selfReviewSetting = 'allow_self_approval';

/** Setting on a `user_management` element: default role for users who are added without a role. */
export const defaultRoleSetting = 'default_role';
