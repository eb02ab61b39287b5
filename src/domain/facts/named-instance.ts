import { Failure, notFound } from '../../failure.js';
import type { Named } from '../../store/table/assignment-reference.js';
import { Resource } from '../../store/table/resource.js';
import { type InstanceRow, instancesNamed, ResourceInstance } from '../../store/table/resource-instance.js';
import { changeRecord } from '../../store/unit/change-record.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName, instanceParts } from '../../wire/common.js';

/** Finds referenced resource instances, and creates missing instances for callers that allow it. */

/**
 * Returns the instance with this id, `<resource key>:<instance key>` or unambiguous key. Throws `not_found`, `invalid`.
 */
export async function findInstance(unit: ReadingUnit, reference: string): Promise<InstanceRow> {
	return (await findInstances(unit, [reference])).get(reference) ?? refuseUnknownInstance(reference);
}

/**
 * Returns the referenced instances, keyed by reference, without missing instances. Throws `invalid` for an ambiguous
 * key.
 */
export async function findInstances(
	unit: ReadingUnit,
	references: Iterable<string>,
): Promise<ReadonlyMap<string, InstanceRow>> {
	const found = new Map<string, InstanceRow>();
	for (const [reference, rows] of await instancesNamed(unit, references)) {
		const row = onlyInstance(reference, rows);
		if (row !== undefined) found.set(reference, row);
	}
	return found;
}

/**
 * Returns the only instance among `rows` or, if there are several, the instance of the resource `type`. Throws
 * `invalid` if there are several and none has this resource.
 */
export function onlyInstance<Row extends InstanceRow>(
	reference: string,
	rows: readonly Row[],
	type?: string,
): Row | undefined {
	const [row, another] = rows;
	if (another === undefined) return row;
	const own = rows.find(({ resource }) => resource === type);
	if (own === undefined) throw ambiguous(reference, rows);
	return own;
}

/** A referenced instance, and the tenant in which to create it. */
export interface WantedInstance {
	readonly reference: string;
	readonly tenant: Named | undefined;
}

/**
 * Creates the missing instances, and returns all instances keyed by reference. Throws `not_found` for a missing
 * instance if its reference is not `<resource>:<key>` or no tenant is known.
 */
export async function createMissingInstances(
	unit: WritingUnit,
	found: ReadonlyMap<string, InstanceRow>,
	wanted: readonly WantedInstance[],
): Promise<ReadonlyMap<string, InstanceRow>> {
	const missing = new Map<string, NewInstance>();
	for (const { reference, tenant } of wanted) {
		if (found.has(reference) || missing.has(reference)) continue;
		const parts = instanceParts(reference);
		if (parts === null || tenant === undefined) throw refuseUnknownInstance(reference);
		missing.set(reference, { ...parts, tenant, attributes: {} });
	}
	return missing.size === 0 ? found : new Map([...found, ...(await createNamed(unit, missing))]);
}

interface NewInstance extends Pick<ResourceInstance, 'key' | 'attributes'> {
	/** Resource key. */
	readonly resource: string;
	readonly tenant: Named;
}

async function createNamed(
	unit: WritingUnit,
	missing: ReadonlyMap<string, NewInstance>,
): Promise<readonly (readonly [string, InstanceRow])[]> {
	const keys = [...missing.values()].map(({ resource }) => resource);
	const resources = new Map((await unit.findNamed(Resource, keys)).map((resource) => [resource.key, resource]));
	const rows = [...missing.values()].map(({ resource, ...instance }) => {
		const type = resources.get(resource);
		if (type === undefined) throw notFound(Resource.title, resource);
		return { ...instance, resource: type };
	});
	const created = await insertInstances(unit, rows);
	return created.map((row) => [instanceName(row.resource, row.key), row]);
}

/** Columns for a new instance. */
export interface InstanceColumns extends Pick<ResourceInstance, 'key' | 'attributes'> {
	readonly resource: Named;
	readonly tenant: Named;
}

/** Inserts instances and records their creation. Throws `duplicate` with the name of the first existing instance. */
export async function insertInstances(
	unit: WritingUnit,
	wanted: readonly InstanceColumns[],
): Promise<readonly InstanceRow[]> {
	const named = new Map(wanted.map((instance) => [`${instance.resource.id}/${instance.key}`, instance]));
	const columns = wanted.map(({ resource, tenant, key, attributes }) => ({
		...unit.stamp(),
		resource_id: resource.id,
		tenant_id: tenant.id,
		key,
		attributes,
	}));
	const nameByResourceId = ({ resource_id, key }: { readonly resource_id?: unknown; readonly key?: unknown }) =>
		instanceName(named.get(`${resource_id}/${key}`)?.resource.key ?? '', String(key));
	const rows = await unit.insert(ResourceInstance, columns, nameByResourceId);
	return rows.map((row) => {
		const { resource, tenant } = named.get(`${row.resource_id}/${row.key}`) ?? {};
		const created = withKeys(row, resource?.key ?? '', tenant?.key ?? '');
		unit.record('resource_instance', 'create', nameByResourceId(row), null, changeRecord(created));
		return created;
	});
}

/** Adds the resource and tenant keys to an instance row, which contains only the ids. */
export function withKeys(row: ResourceInstance, resource: string, tenant: string): InstanceRow {
	return Object.assign(row, { resource, tenant });
}

/** Throws `mismatched_tenants` if the instance is not in the given tenant. */
export function requireTenant(instance: InstanceRow, tenant: Named | undefined): void {
	if (tenant === undefined || tenant.id === instance.tenant_id) return;
	const name = instanceName(instance.resource, instance.key);
	throw new Failure(
		'mismatched_tenants',
		`the resource instance \`${name}\` is in the tenant \`${instance.tenant}\`, not in \`${tenant.key}\``,
	);
}

/** Throws `not_found` for a reference to a missing instance. */
export function refuseUnknownInstance(reference: string): never {
	throw notFound(ResourceInstance.title, reference);
}

function ambiguous(reference: string, rows: readonly InstanceRow[]): Failure {
	const [first, second] = rows.map((row) => `\`${instanceName(row.resource, row.key)}\``);
	return new Failure(
		'invalid',
		`\`${reference}\` is ambiguous: it matches several resource instances, such as ${first} and ${second}`,
	);
}
