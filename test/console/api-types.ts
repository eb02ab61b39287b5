import type * as Pages from '../../src/console/model/api-types.js';
import type { AccessRequestListed, OperationApprovalListed } from '../../src/wire/element/element-request.js';
import type { ElementActor } from '../../src/wire/element/element-session.js';
import type { ElementRoleRead } from '../../src/wire/element/element-user.js';
import type { ElementsRuntime } from '../../src/wire/element/elements-config.js';
import type { UserRead } from '../../src/wire/facts/user.js';

/**
 * The pages' own types of answers are those of the API, as far as they go. Where they are not, this file does not
 * compile: an answer must be what the pages read, and a member that the API may leave out must be one that they do not
 * count on.
 */

/** Instants are text once they have been sent. */
type Sent<T> = T extends Date ? string : T extends object ? { readonly [K in keyof T]: Sent<T[K]> } : T;

/** Compiles only where every answer is one that the pages can read. */
type ReadAs<Page, Answer extends Page> = Answer;

/** What is compared. */
export type Compared = [
	ReadAs<{ readonly actor: Pages.Actor }, Sent<ElementActor>>,
	ReadAs<Pages.ElementRuntime, Sent<ElementsRuntime>>,
	ReadAs<Pages.ListedRequest, Sent<AccessRequestListed>>,
	ReadAs<Pages.ListedRequest, Sent<OperationApprovalListed>>,
	ReadAs<Pages.ListedUser, Sent<UserRead>>,
	ReadAs<Pages.ElementRole, Sent<ElementRoleRead>>,
];
