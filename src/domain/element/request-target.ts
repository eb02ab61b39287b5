import { Failure, forbidden } from '../../failure.js';
import type { ElementRequest } from '../../store/table/element/element-request.js';
import { Resource } from '../../store/table/resource.js';
import { type InstanceRow, instancesNamed } from '../../store/table/resource-instance.js';
import { Role, tenantRolesOnly } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { isMember } from '../../store/table/tenant-user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId, instanceName } from '../../wire/common.js';
import { createMissingInstances, findInstances, refuseUnknownInstance } from '../facts/named-instance.js';
import { refuseToAssign } from '../schema/computed-role.js';
import type { ActingUser } from './level.js';

/** Finds the objects that requests name. Errors reveal nothing about other tenants. */

/**
 * Returns the actor's tenant. For a reference to any other tenant, existing or not, throws `invalid` with the same
 * message, so users learn nothing about other tenants. Throws `forbidden` if the user is not a member.
 */
export async function requireOwnTenant(unit: ReadingUnit, actor: ActingUser, reference: string): Promise<Tenant> {
	const tenant = await unit.find(Tenant, actor.tenant_id);
	if (reference !== tenant.key && asId(reference) !== tenant.id) {
		throw new Failure('invalid', `the tenant \`${reference}\` is not the tenant of the request`);
	}
	if (!(await isMember(unit, actor))) throw forbidden(`the user is not a member of the tenant \`${tenant.key}\``);
	return tenant;
}

/**
 * Returns an instance in the actor's tenant. Instances in other tenants are treated as missing. Throws `not_found`,
 * `invalid`.
 */
export async function findOwnInstance(
	unit: ReadingUnit,
	actor: ActingUser,
	resourceReference: string | undefined,
	reference: string,
): Promise<InstanceRow> {
	const resource = resourceReference === undefined ? null : await unit.find(Resource, resourceReference);
	const name = resource === null || reference.includes(':') ? reference : instanceName(resource.key, reference);
	const named = await instancesNamed(unit, asId(reference) === null ? [name] : [reference, name]);
	const rows = named.get(reference) ?? named.get(name) ?? [];
	const [instance, another] = rows.filter((row) => row.tenant_id === actor.tenant_id);
	if (instance === undefined) return refuseUnknownInstance(reference);
	if (another !== undefined) {
		throw new Failure(
			'invalid',
			`\`${reference}\` is ambiguous, because several resources have an instance with this key: add the resource`,
		);
	}
	if (resource !== null && instance.resource_id !== resource.id) {
		throw new Failure(
			'invalid',
			`the resource instance \`${reference}\` does not belong to the resource \`${resource.key}\``,
		);
	}
	return instance;
}

/** Returns an instance in the actor's tenant, and creates it if missing. Throws `not_found`, `invalid`. */
export async function ensureInstance(
	unit: WritingUnit,
	tenant: Tenant,
	resource: Resource,
	reference: string,
): Promise<InstanceRow> {
	const name = reference.includes(':') || asId(reference) !== null ? reference : instanceName(resource.key, reference);
	const found = await createMissingInstances(unit, await findInstances(unit, [name]), [{ reference: name, tenant }]);
	const instance = found.get(name);
	// Users must learn nothing about other tenants.
	if (instance === undefined || instance.tenant_id !== tenant.id) return refuseUnknownInstance(reference);
	if (instance.resource_id === resource.id) return instance;
	throw new Failure(
		'invalid',
		`the resource instance \`${reference}\` does not belong to the resource \`${resource.key}\``,
	);
}

/**
 * Returns the requested role: a role for instances if `resource` is set, otherwise a tenant role. Throws `not_found`,
 * and `invalid` for a computed role.
 */
export async function findRequestedRole(
	unit: ReadingUnit,
	reference: string,
	resource_id: string | null,
): Promise<Role> {
	const role = await unit.find(Role, reference, resource_id === null ? tenantRolesOnly : { resource_id });
	refuseToAssign(role);
	return role;
}

/**
 * Returns the role that the reviewer chose instead of the requested role. Throws `not_found` if it does not belong to
 * the same resource.
 */
export async function findOtherRole(unit: ReadingUnit, request: ElementRequest, reference: string): Promise<Role> {
	return findRequestedRole(unit, reference, request.resource_instance_id === null ? null : request.resource_id);
}
