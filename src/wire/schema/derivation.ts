import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { defaulted, Reference, Uuid } from '../common.js';
import { named } from '../named.js';
import { granting } from './granting.js';

/**
 * Role derivations: a role is derived from a role on a related object. The contract calls them `granted_to` and
 * implicit grants.
 */

const noDirectRoles = 'True if a role held directly on the object disables the derivation for the user.';

/** Fields of `DerivationSettingsEdit`. */
export const derivationSettings = {
	no_direct_roles_on_object: defaulted(z.boolean(), () => false).meta({ description: noDirectRoles }),
};

export const DerivationSettingsEdit = granting(derivationSettings).meta({
	id: 'DerivationSettingsEditable',
	description: 'When derivations apply.',
});
export type DerivationSettingsEdit = z.output<typeof DerivationSettingsEdit>;

const when = defaulted(DerivationSettingsEdit, () => ({ no_direct_roles_on_object: false }));

const source = {
	role: Reference.describe('Role held on the related instance: id or key.'),
	on_resource: Reference.describe('Resource for the related instance, the subject in the relation: id or key.'),
	linked_by_relation: Reference.describe(
		'Relation from the related instance to the instance of the derived role: id or key.',
	),
};

export const DerivedRoleRuleCreate = granting(
	{ ...source, when: when.describe('When this derivation applies; always by default.') },
	['role_id', 'resource_id', 'relation_id'],
).meta({
	id: 'DerivedRoleRuleCreate',
	description:
		'Users with `role` on a subject of the relation, an instance of `on_resource`, ' +
		'hold the role from the path on its object.',
});
export type DerivedRoleRuleCreate = z.output<typeof DerivedRoleRuleCreate>;

const anyWhen = defaulted(z.object(derivationSettings), () => ({ no_direct_roles_on_object: false }));

export const DerivedRoleRuleRemove = named('DerivedRoleRuleDelete', 'A derivation to remove; `when` is ignored.', {
	...source,
	when: anyWhen.describe('Ignored.'),
});

export const DerivedRoleBlockEdit = granting({
	users_with_role: defaulted(boundedArray(DerivedRoleRuleCreate), () => []).describe(
		'Source roles: users who hold one on a related instance also hold this role. None by default.',
	),
	when: when.describe('When these derivations apply; always by default.'),
}).meta({ id: 'DerivedRoleBlockEditable', description: 'All derivations for one role.' });
export type DerivedRoleBlockEdit = z.output<typeof DerivedRoleBlockEdit>;

export const DerivationSettingsRead = named('DerivationSettingsRead', 'Stored rule for when derivations apply.', {
	no_direct_roles_on_object: z
		.boolean()
		.describe('True if a role held directly on the object disables the derivation for the user.'),
});

export const DerivedRoleRuleRead = named(
	'DerivedRoleRuleRead',
	'A derivation, by keys and by ids; `resource_id` is the id of `on_resource`.',
	{
		role: z.string().describe('Key of the role held on the related instance.'),
		on_resource: z.string().describe('Resource key for the related instance, the subject in the relation.'),
		linked_by_relation: z
			.string()
			.describe('Key for the relation from the related instance to the instance with the derived role.'),
		role_id: Uuid.describe('Role id.'),
		resource_id: Uuid.describe('Id of `on_resource`.'),
		relation_id: Uuid.describe('Relation id.'),
		when: DerivationSettingsRead,
	},
);
export type DerivedRoleRuleRead = z.input<typeof DerivedRoleRuleRead>;

export const DerivedRoleBlockRead = named('DerivedRoleBlockRead', 'All derivations for one role.', {
	id: Uuid.describe('Block id, stable across changes.'),
	users_with_role: z
		.array(DerivedRoleRuleRead)
		.describe('Source roles: users who hold one on a related instance also hold this role.'),
	when: DerivationSettingsRead,
});
export type DerivedRoleBlockRead = z.input<typeof DerivedRoleBlockRead>;
