import type { DraftKind } from '../wire/general/draft.js';
import { actionGroupPart } from './part/action-group.js';
import { roleAssignmentPart, tenantUserPart } from './part/assignment.js';
import { checkTestPart } from './part/check-test.js';
import { conditionSetPart } from './part/condition-set.js';
import { elementPart } from './part/element.js';
import { groupPart, madeForGroupsPart } from './part/group.js';
import { instancePart } from './part/instance.js';
import { userInvitePart } from './part/invite.js';
import type { DocumentPart } from './part/part.js';
import { relationPart } from './part/relation.js';
import { resourceRolePart, rolePart } from './part/role.js';
import { resourcePart, userAttributePart } from './part/schema.js';
import { setRulePart } from './part/set-rule.js';
import { tuplePart } from './part/tuple.js';
import { tenantPart, userPart } from './part/user-and-tenant.js';

/** A part of any kind. Only the part itself knows the type of its values. */
export type AnyPart = DocumentPart<unknown>;

/** Document parts, keyed by kind. Each part comes after the kinds it refers to. Drafts use the same kind names. */
export const partsByKind = {
	resource: asAny(resourcePart),
	relation: asAny(relationPart),
	action_group: asAny(actionGroupPart),
	resource_role: asAny(resourceRolePart),
	user_attribute: asAny(userAttributePart),
	role: asAny(rolePart),
	condition_set: asAny(conditionSetPart),
	condition_set_rule: asAny(setRulePart),
	elements_config: asAny(elementPart),
	check_test: asAny(checkTestPart),
	tenant: asAny(tenantPart),
	user: asAny(userPart),
	tenant_user: asAny(tenantUserPart),
	resource_instance: asAny(instancePart),
	group: asAny(groupPart),
	made_for_groups: asAny(madeForGroupsPart),
	relationship_tuple: asAny(tuplePart),
	role_assignment: asAny(roleAssignmentPart),
	user_invite: asAny(userInvitePart),
} as const satisfies Record<DraftKind, AnyPart>;

/** Document parts, each after the parts it refers to. */
export const documentParts: readonly AnyPart[] = Object.values(partsByKind);

function asAny<V>(part: DocumentPart<V>): AnyPart {
	// Each part receives only values it has read itself, from a document or an environment.
	return part as unknown as AnyPart;
}
