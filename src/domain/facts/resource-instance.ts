import { groupBy } from '../../../compiler/group-by.js';
import { onlyRow } from '../../store/query/only-row.js';
import { type TupleRow, tuplesBy } from '../../store/table/relationship-tuple.js';
import { Resource } from '../../store/table/resource.js';
import {
	type InstanceFilter,
	type InstanceRow,
	instancesKeyed,
	instancesToRemove,
	ResourceInstance,
} from '../../store/table/resource-instance.js';
import { Tenant } from '../../store/table/tenant.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import type {
	ResourceInstanceCreate,
	ResourceInstanceRead,
	ResourceInstanceUpdate,
} from '../../wire/facts/resource-instance.js';
import { removeUserInvites } from '../element/remove-user-invites.js';
import { removeRequests } from '../element/request-record.js';
import { unmarkGroups } from '../group/group-mark.js';
import { removeInChunks } from '../remove-in-chunks.js';
import { readCondition } from '../schema/condition-values.js';
import { removeAssignments } from './assignment.js';
import {
	findInstances,
	type InstanceColumns,
	insertInstances,
	refuseUnknownInstance,
	requireTenant,
	withKeys,
} from './named-instance.js';
import { removeTuples } from './relationship-tuple.js';

/** Converts an instance to its API object. */
export function readInstance(unit: ReadingUnit, row: InstanceRow): ResourceInstanceRead {
	return { ...row, ...unit.scope };
}

/** Converts instances to API objects, with every relationship on either side. */
export async function readDetailedInstances(
	unit: ReadingUnit,
	rows: readonly InstanceRow[],
): Promise<readonly ResourceInstanceRead[]> {
	const tuples = await tuplesBy(unit, { instance_ids: rows.map((row) => row.id) }).all();
	const shown = (found: readonly TupleRow[] = []) =>
		found.map((tuple) => ({ ...tuple, condition: readCondition(tuple) }));
	const asSubject = groupBy(tuples, (tuple) => tuple.subject_id);
	// List a relationship from an instance to itself only once.
	const asObject = groupBy(
		tuples.filter(({ subject_id, object_id }) => subject_id !== object_id),
		(tuple) => tuple.object_id,
	);
	return rows.map((row) => ({
		...readInstance(unit, row),
		relationships: [...shown(asSubject.get(row.id)), ...shown(asObject.get(row.id))],
	}));
}

/**
 * Adds an instance. Throws `not_found` for its resource or tenant, and `duplicate` if the resource already has an
 * instance with this key.
 */
export async function createInstance(unit: WritingUnit, body: ResourceInstanceCreate): Promise<InstanceRow> {
	return onlyRow(await insertInstances(unit, await resolveColumns(unit, [body])));
}

/** Replaces an instance's attributes if the body has any; null clears them. */
export async function changeInstance(
	unit: WritingUnit,
	instance: InstanceRow,
	body: ResourceInstanceUpdate,
): Promise<InstanceRow> {
	const columns = body.attributes === undefined ? {} : { attributes: body.attributes ?? {} };
	if (hasValues(instance, columns)) return instance;
	const before = changeRecord(instance);
	const { resource, tenant } = instance;
	const after = withKeys(await unit.change(ResourceInstance, instance, columns), resource, tenant);
	unit.record('resource_instance', 'update', instanceName(resource, after.key), before, changeRecord(after));
	return after;
}

/**
 * Creates or replaces many instances, identified by resource and key. If bodies have the same name, the last body
 * applies. An instance cannot move to a different tenant. Throws `not_found` and `mismatched_tenants`.
 */
export async function syncInstances(unit: WritingUnit, bodies: readonly ResourceInstanceCreate[]): Promise<void> {
	const last = new Map((await resolveColumns(unit, bodies)).map((instance) => [instanceIdentity(instance), instance]));
	const existing = await instancesKeyed(unit, [...last.values()]);
	const replaced = existing.flatMap((row) => {
		const body = last.get(`${row.resource_id}/${row.key}`);
		return body === undefined ? [] : [{ row, body, columns: { attributes: body.attributes } }];
	});
	for (const { row, body } of replaced) {
		if (row.tenant_id !== body.tenant.id) await refuseMove(unit, row, body);
		last.delete(instanceIdentity(body));
	}
	await replaceAttributes(unit, replaced);
	await insertInstances(unit, [...last.values()]);
}

/** Deletes an instance like `removeInstances`. */
export async function removeInstance(unit: WritingUnit, instance: InstanceRow): Promise<void> {
	await removeInstances(unit, { ids: [instance.id] });
}

/** Deletes the referenced instances, each once. Throws `not_found` for the first missing instance. */
export async function removeNamedInstances(unit: WritingUnit, references: readonly string[]): Promise<void> {
	const found = await findInstances(unit, references);
	const ids = references.map((reference) => found.get(reference)?.id ?? refuseUnknownInstance(reference));
	await removeInstances(unit, { ids });
}

/**
 * Deletes every matching instance with its role assignments, invites, requests and relationships. Must run before its
 * resource or tenant is deleted. Returns the number deleted.
 */
export async function removeInstances(
	unit: WritingUnit,
	filter: Pick<InstanceFilter, 'ids' | 'resource_ids' | 'tenant_ids'>,
): Promise<number> {
	return removeInChunks(instancesToRemove(unit, filter), (rows) => removeChunk(unit, rows));
}

async function removeChunk(unit: WritingUnit, rows: readonly InstanceRow[]): Promise<void> {
	const ids = rows.map((row) => row.id);
	await removeAssignments(unit, { resource_instance_ids: ids });
	await removeUserInvites(unit, { resource_instance_ids: ids });
	await removeRequests(unit, { resource_instance_ids: ids });
	await removeTuples(unit, { instance_ids: ids });
	await unmarkGroups(unit, ids);
	const names = new Map(rows.map((row) => [row.id, instanceName(row.resource, row.key)]));
	await unit.removeMany<ResourceInstance>(ResourceInstance, rows, ({ id }) => names.get(id) ?? '');
}

/** Resolves the resources and tenants in the bodies. Throws `not_found`. */
async function resolveColumns(
	unit: ReadingUnit,
	bodies: readonly ResourceInstanceCreate[],
): Promise<readonly InstanceColumns[]> {
	const names = bodies.map(({ resource }) => resource);
	const resources = await unit.findAll(Resource, names);
	const tenantNames = bodies.map(({ tenant }) => tenant);
	const tenants = await unit.findAll(Tenant, tenantNames);
	return bodies.flatMap((body) => {
		const [resource, tenant] = [resources.get(body.resource), tenants.get(body.tenant)];
		return resource === undefined || tenant === undefined ? [] : [{ ...body, resource, tenant }];
	});
}

interface Replaced {
	readonly row: ResourceInstance;
	readonly body: InstanceColumns;
	readonly columns: Pick<ResourceInstance, 'attributes'>;
}

async function replaceAttributes(unit: WritingUnit, replaced: readonly Replaced[]): Promise<void> {
	const bodies = new Map(replaced.map(({ row, body }) => [row.id, body]));
	for (const { before, after } of await unit.changeMany(ResourceInstance, replaced)) {
		const { resource, tenant } = bodies.get(after.id) ?? {};
		const keys = { resource: resource?.key ?? '', tenant: tenant?.key ?? '' };
		const name = instanceName(keys.resource, after.key);
		unit.record(
			'resource_instance',
			'update',
			name,
			{ ...changeRecord(before), ...keys },
			{ ...changeRecord(after), ...keys },
		);
	}
}

async function refuseMove(unit: ReadingUnit, row: ResourceInstance, body: InstanceColumns): Promise<void> {
	const { key } = await unit.find(Tenant, row.tenant_id);
	requireTenant(withKeys(row, body.resource.key, key), body.tenant);
}

function instanceIdentity({ resource, key }: InstanceColumns): string {
	return `${resource.id}/${key}`;
}
