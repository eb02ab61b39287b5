import { grantImplicitly, revokeImplicitly, setDerivationSettings } from '../../domain/schema/derivation.js';
import { findResourceRole } from '../../domain/schema/resource-role.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
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
const mismatch = "The relation's subjects belong to a different resource";
const missing = 'No such resource, role or relation';
const collectionPlace = methods({ tag, path: collection, params: ResourceRolePath });

/** Resource roles derived from roles on related objects. */
export const implicitGrants = [
	endpoint({
		...collectionPlace.post,
		name: 'createImplicitGrant',
		summary: 'Derive a resource role from a role on related instances',
		description:
			'If an instance of `on_resource` is the subject of a relationship, users with `role` on this instance hold ' +
			"the role in the path on the relationship's object. An existing derivation gets the settings in `when`.",
		access: 'environment.write',
		body: DerivedRoleRuleCreate,
		example,
		returns: { 200: DerivedRoleRuleRead },
		failures: { 400: `${mismatch}, or the role would be derived from too many roles in a cycle`, 404: missing },
		handle: async ({ params, body }, { unit }) =>
			reply(200, await grantImplicitly(unit, await findResourceRole(unit, params), body)),
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'deleteImplicitGrant',
		summary: 'Delete a derivation of a resource role',
		description: 'Ignores `when`.',
		access: 'environment.write',
		body: DerivedRoleRuleRemove,
		example,
		returns: { 204: null },
		failures: { 400: mismatch, 404: `${missing}, or the role has no such derivation` },
		handle: async ({ params, body }, { unit }) =>
			emptied(revokeImplicitly(unit, await findResourceRole(unit, params), body)),
	}),
	endpoint({
		...methods({ tag, path: `${collection}/conditions`, params: ResourceRolePath }).put,
		name: 'updateImplicitGrantsConditions',
		summary: 'Set the `when` settings for all derivations of a role',
		description:
			'With `no_direct_roles_on_object`, derivations do not apply to users with a directly assigned role on the ' +
			'object.',
		access: 'environment.write',
		body: DerivationSettingsEdit,
		example: { no_direct_roles_on_object: true },
		returns: { 200: DerivationSettingsRead },
		failures: { 404: 'No such resource or role' },
		handle: async ({ params, body }, { unit }) =>
			reply(200, await setDerivationSettings(unit, await findResourceRole(unit, params), body)),
	}),
];
