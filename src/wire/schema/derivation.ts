import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, Reference, Uuid } from '../common.js';
import { granting } from './granting.js';

/** Role derivations, `granted_to` and implicit grants in the contract: a role that follows from one on another object. */

const noDirectRoles = 'Whether a role that the user holds directly on the object turns this off.';

/** The members of `DerivationSettingsEdit`. */
export const derivationSettings = {
	no_direct_roles_on_object: defaulted(z.boolean(), () => false).meta({ description: noDirectRoles }),
};

/** When derivations count. */
export const DerivationSettingsEdit = granting(derivationSettings).meta({
	id: 'DerivationSettingsEditable',
	description: 'When derivations count.',
});
export type DerivationSettingsEdit = z.output<typeof DerivationSettingsEdit>;

const when = defaulted(DerivationSettingsEdit, () => ({ no_direct_roles_on_object: false }));

const source = {
	role: Reference.describe('The role that is held on the related instance: its id or key.'),
	on_resource: Reference.describe(
		'The resource of the related instance, which is the subject of the relation: its id or key.',
	),
	linked_by_relation: Reference.describe(
		'The relation from the related instance to the one on which the role is derived: its id or key.',
	),
};

/**
 * Whoever holds `role` on an instance of `on_resource` that is a subject of the relation holds the role of the path on
 * its object.
 */
export const DerivedRoleRuleCreate = granting(
	{ ...source, when: when.describe('When this derivation counts; always when left out.') },
	['role_id', 'resource_id', 'relation_id'],
).meta({
	id: 'DerivedRoleRuleCreate',
	description:
		'Whoever holds `role` on an instance of `on_resource` that is a subject of the relation holds the role of ' +
		'the path on its object.',
});
export type DerivedRoleRuleCreate = z.output<typeof DerivedRoleRuleCreate>;

const anyWhen = defaulted(z.object(derivationSettings), () => ({ no_direct_roles_on_object: false }));

/** One derivation to remove; `when` does not matter. */
export const DerivedRoleRuleRemove = z
	.object({ ...source, when: anyWhen.describe('Ignored.') })
	.meta({ id: 'DerivedRoleRuleDelete', description: 'One derivation to remove; `when` does not matter.' });
export type DerivedRoleRuleRemove = z.output<typeof DerivedRoleRuleRemove>;

/** All derivations of one role. */
export const DerivedRoleBlockEdit = granting({
	users_with_role: defaulted(boundedArray(DerivedRoleRuleCreate), () => []).describe(
		'Who holds the role: holders of these roles on related instances. None when left out.',
	),
	when: when.describe('When these derivations count; always when left out.'),
}).meta({ id: 'DerivedRoleBlockEditable', description: 'All derivations of one role.' });
export type DerivedRoleBlockEdit = z.output<typeof DerivedRoleBlockEdit>;

/** When derivations count, as it is stored. */
export const DerivationSettingsRead = z
	.object({
		no_direct_roles_on_object: z
			.boolean()
			.describe('Whether a role that the user holds directly on the object turns this off.'),
	})
	.meta({ id: 'DerivationSettingsRead', description: 'When derivations count, as it is stored.' });
export type DerivationSettingsRead = z.input<typeof DerivationSettingsRead>;

/** One derivation, by keys and by ids; `resource_id` is the id of `on_resource`. */
export const DerivedRoleRuleRead = z
	.object({
		role: z.string().describe('The key of the role that is held on the related instance.'),
		on_resource: z.string().describe('The key of the resource of the related instance, the subject of the relation.'),
		linked_by_relation: z
			.string()
			.describe('The key of the relation from the related instance to the one on which the role is derived.'),
		role_id: Uuid.describe('The id of that role.'),
		resource_id: Uuid.describe('The id of `on_resource`.'),
		relation_id: Uuid.describe('The id of the relation.'),
		when: DerivationSettingsRead,
	})
	.meta({
		id: 'DerivedRoleRuleRead',
		description: 'One derivation, by keys and by ids; `resource_id` is the id of `on_resource`.',
	});
export type DerivedRoleRuleRead = z.input<typeof DerivedRoleRuleRead>;

/** All derivations of one role. */
export const DerivedRoleBlockRead = z
	.object({
		id: Uuid.describe('The id of the block, which it keeps while it changes.'),
		users_with_role: z
			.array(DerivedRoleRuleRead)
			.describe('Who holds the role: holders of these roles on related instances.'),
		when: DerivationSettingsRead,
	})
	.meta({ id: 'DerivedRoleBlockRead', description: 'All derivations of one role.' });
export type DerivedRoleBlockRead = z.input<typeof DerivedRoleBlockRead>;
