/** Settings of elements that mean something to the server, and the names that it makes for them. */

/** The setting of an `approval_flow` element that names the user management element whose owners review its requests. */
export const reviewersSetting = 'user_management_element';
/** The setting of that user management element, which names the `approval_flow` element in return. */
export const requestsSetting = 'access_request_element';
/** The setting of an `operation_approval` element that names the resource whose operations are approved. */
export const resourceSetting = 'resource';

/** The roles of operation approvals, on instances of their resource (contract: Who reviews, and what approval does). */
export const reviewerRole = '_Reviewer_';
/** See `reviewerRole`: who may operate. */
export const approvedRole = '_Approved_';
/** The action that `approvedRole` grants. */
export const operateAction = 'operate';

/** The setting of an `operation_approval` element that names an action, which `approvedRole` then grants too. */
export const actionSetting = 'action';

/** The setting of an `operation_approval` element whose approvals are good for one use. */
export const singleUseSetting = 'single_use';

/** The setting of an element that bounds how long what it approves holds, in seconds. */
export const durationSetting = 'max_duration';

/** The setting of an element that lets requesters review their own requests. */
export const selfReviewSetting = 'allow_self_approval';

/** The setting of a `user_management` element that names the role of users who are added without one. */
export const defaultRoleSetting = 'default_role';
