import { grantImplicitly, revokeImplicitly, setDerivationSettings } from '../../domain/schema/derivation.js';
import { findResourceRole } from '../../domain/schema/resource-role.js';
import { reply } from '../../http/endpoint.js';
import {
	DerivationSettingsEdit,
	DerivationSettingsRead,
	DerivedRoleRuleCreate,
	DerivedRoleRuleRead,
	DerivedRoleRuleRemove,
} from '../../wire/schema/derivation.js';
import { endpoint } from '../access.js';
import { ResourceRolePath } from './resource-roles.js';

const tag = 'Implicit grants';
const collection = '/v2/schema/:proj_id/:env_id/resources/:resource_id/roles/:role_id/implicit_grants';
const example = { role: 'editor', on_resource: 'folder', linked_by_relation: 'parent' };
const mismatch = 'The subjects of the relation are of another resource';
const missing = 'No such resource, role or relation';
const collectionPlace = { tag, path: collection, params: ResourceRolePath } as const;

/** Resource roles derived from roles on related objects. */
export const implicitGrants = [
	endpoint({
		...collectionPlace,
		name: 'createImplicitGrant',
		summary: 'Derive a role of a resource from a role on related objects',
		description:
			'If an instance of `on_resource` is the subject of the relation to an object, users with `role` on the instance ' +
			'hold the role in the path on that object. An existing derivation takes the settings of `when`.',
		method: 'post',
		access: 'environment.write',
		body: DerivedRoleRuleCreate,
		example,
		returns: { 200: DerivedRoleRuleRead },
		failures: { 400: `${mismatch}, or too many roles would lead to one in a cycle`, 404: missing },
		handle: async ({ params, body }, { unit }) => {
			return reply(200, await grantImplicitly(unit, await findResourceRole(unit, params), body));
		},
	}),
	endpoint({
		...collectionPlace,
		name: 'deleteImplicitGrant',
		summary: 'No longer derive a role of a resource from a role on related objects',
		description: 'Ignores `when`.',
		method: 'delete',
		access: 'environment.write',
		body: DerivedRoleRuleRemove,
		example,
		returns: { 204: null },
		failures: { 400: mismatch, 404: `${missing}, or the role has no such derivation` },
		handle: async ({ params, body }, { unit }) => {
			await revokeImplicitly(unit, await findResourceRole(unit, params), body);
			return reply(204);
		},
	}),
	endpoint({
		name: 'updateImplicitGrantsConditions',
		summary: 'Set when all the derivations of a role count',
		description: 'With `no_direct_roles_on_object`, none counts for a user who holds a role on the object directly.',
		tag,
		method: 'put',
		path: `${collection}/conditions`,
		access: 'environment.write',
		params: ResourceRolePath,
		body: DerivationSettingsEdit,
		example: { no_direct_roles_on_object: true },
		returns: { 200: DerivationSettingsRead },
		failures: { 404: 'No such resource or role' },
		handle: async ({ params, body }, { unit }) => {
			return reply(200, await setDerivationSettings(unit, await findResourceRole(unit, params), body));
		},
	}),
];
