import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { defaulted, Reference, Uuid } from './common.js';
import { granting } from './granting.js';

/** Role derivations, `granted_to` and implicit grants in the contract: a role that follows from one on another object. */

const noDirectRoles = 'Whether a role that the user holds directly on the object turns this off.';

/** The members of `DerivationSettingsEdit`. */
export const derivationSettings = {
	no_direct_roles_on_object: defaulted(z.boolean(), () => false).meta({ description: noDirectRoles }),
};

/** When derivations count. */
export const DerivationSettingsEdit = granting(derivationSettings).meta({ id: 'DerivationSettingsEditable' });
export type DerivationSettingsEdit = z.output<typeof DerivationSettingsEdit>;

const when = defaulted(DerivationSettingsEdit, () => ({ no_direct_roles_on_object: false }));

const source = { role: Reference, on_resource: Reference, linked_by_relation: Reference };

/**
 * Whoever holds `role` on an instance of `on_resource` that is a subject of the relation holds the role of the path on
 * its object.
 */
export const DerivedRoleRuleCreate = granting({ ...source, when }, ['role_id', 'resource_id', 'relation_id']).meta({
	id: 'DerivedRoleRuleCreate',
});
export type DerivedRoleRuleCreate = z.output<typeof DerivedRoleRuleCreate>;

const anyWhen = defaulted(z.object(derivationSettings), () => ({ no_direct_roles_on_object: false }));

/** One derivation to remove; `when` does not matter. */
export const DerivedRoleRuleRemove = z.object({ ...source, when: anyWhen }).meta({ id: 'DerivedRoleRuleDelete' });
export type DerivedRoleRuleRemove = z.output<typeof DerivedRoleRuleRemove>;

/** All derivations of one role. */
export const DerivedRoleBlockEdit = granting({
	users_with_role: defaulted(boundedArray(DerivedRoleRuleCreate), () => []),
	when,
}).meta({ id: 'DerivedRoleBlockEditable' });
export type DerivedRoleBlockEdit = z.output<typeof DerivedRoleBlockEdit>;

/** When derivations count, as it is stored. */
export const DerivationSettingsRead = z
	.object({ no_direct_roles_on_object: z.boolean() })
	.meta({ id: 'DerivationSettingsRead' });
export type DerivationSettingsRead = z.input<typeof DerivationSettingsRead>;

/** One derivation, by keys and by ids; `resource_id` is the id of `on_resource`. */
export const DerivedRoleRuleRead = z
	.object({
		role: z.string(),
		on_resource: z.string(),
		linked_by_relation: z.string(),
		role_id: Uuid,
		resource_id: Uuid,
		relation_id: Uuid,
		when: DerivationSettingsRead,
	})
	.meta({ id: 'DerivedRoleRuleRead' });
export type DerivedRoleRuleRead = z.input<typeof DerivedRoleRuleRead>;

/** All derivations of one role. */
export const DerivedRoleBlockRead = z
	.object({ id: Uuid, users_with_role: z.array(DerivedRoleRuleRead), when: DerivationSettingsRead })
	.meta({ id: 'DerivedRoleBlockRead' });
export type DerivedRoleBlockRead = z.input<typeof DerivedRoleBlockRead>;
