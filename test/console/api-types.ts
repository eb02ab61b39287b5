import type * as Pages from '../../src/console/model/api-types.js';
import type { AccessRequestListed, OperationApprovalListed } from '../../src/wire/element/element-request.js';
import type { ElementRoleRead } from '../../src/wire/element/element-user.js';
import type { ElementsRuntime } from '../../src/wire/element/elements-config.js';
import type { UserRead } from '../../src/wire/facts/user.js';

/**
 * Compares the response types in the pages with the API types. If they do not match, this file does not compile: a
 * response must have every member that the pages read, and members that are optional in the API must also be optional
 * in the pages.
 */

/** The JSON form of a type. Instants are strings in JSON. */
type Sent<T> = T extends Date ? string : T extends object ? { readonly [K in keyof T]: Sent<T[K]> } : T;

/** Compiles only if the pages can read every response. */
type ReadAs<Page, Answer extends Page> = Answer;

/** All compared types. */
export type Compared = [
	ReadAs<Pages.ElementRuntime, Sent<ElementsRuntime>>,
	ReadAs<Pages.ListedRequest, Sent<AccessRequestListed>>,
	ReadAs<Pages.ListedRequest, Sent<OperationApprovalListed>>,
	ReadAs<Pages.ListedUser, Sent<UserRead>>,
	ReadAs<Pages.ElementRole, Sent<ElementRoleRead>>,
];
