import { Resource } from '../store/table/resource.js';
import {
	type InstanceRow,
	instanceNames,
	instancesBy,
	instancesNamed,
	ResourceInstance,
} from '../store/table/resource-instance.js';
import { Tenant } from '../store/table/tenant.js';
import type { ReadingUnit } from '../store/unit.js';
import { instanceName, instanceParts } from '../wire/common.js';
import type { InstanceEntry } from '../wire/environment-document.js';
import { removeInstances, syncInstances } from './resource-instance.js';
import {
	type Entry,
	entriesOfMap,
	namesIn,
	nothingAt,
	type Part,
	portionsOf,
	valuesOf,
	without,
} from './transfer-part.js';
import { type ByKey, referencesTo } from './transfer-reference.js';

const member = ['facts', 'resource_instances'] as const;

/** Resource instances, named by their resource and their key. */
export const instancePart: Part<InstanceEntry> = {
	title: 'resource instance',
	member,
	scope: null,
	list: false,
	entriesOf: ({ facts }) => entriesOfMap(member, facts?.resource_instances),
	async *portions(unit) {
		for await (const names of sortedInstances(unit)) {
			const ids = names.map(({ id }) => id);
			const rows = await instancesBy(unit, { ids }).castTo<InstanceRow[]>();
			const entries = new Map(rows.map((row) => [row.id, entryOf(row)]));
			yield ids.flatMap((id) => entries.get(id) ?? []);
		}
	},
	async held(unit, entries) {
		return valuesOf((await rowsNamed(unit, namesIn(entries))).map(entryOf));
	},
	shown: (value) => without(value, { attributes: {} }),
	async write(unit, entries) {
		const tenantAt = await referencesTo(
			unit,
			Tenant,
			entries.map(({ value }) => value.tenant),
		);
		const resourceAt = await referencesTo(
			unit,
			Resource,
			entries.map(({ name }) => partsOf(name).resource),
		);
		const tenants = new Map(
			entries.map(({ name, place, value }) => [name, tenantAt(value.tenant, [...place, 'tenant'])]),
		);
		const held = await rowsNamed(unit, namesIn(entries.filter(({ exists }) => exists)));
		// An instance stays in its tenant: elsewhere, it is another one.
		const moved = held.filter((row) => tenants.get(nameOf(row))?.id !== row.tenant_id);
		await removeInstances(unit, { ids: moved.map(({ id }) => id) });
		await syncInstances(
			unit,
			entries.map(({ name, place, value }) => {
				const { resource, key } = partsOf(name);
				const tenant = tenants.get(name)?.id ?? '';
				return { key, resource: resourceAt(resource, place).id, tenant, attributes: value.attributes };
			}),
		);
	},
	async remove(unit, entries) {
		await removeInstances(unit, { ids: (await rowsNamed(unit, namesIn(entries))).map(({ id }) => id) });
	},
};

/** What instances are called, in order, in portions. */
export async function* sortedInstances(
	unit: ReadingUnit,
): AsyncGenerator<readonly { readonly id: string; readonly name: string }[]> {
	const names = await instanceNames(unit);
	yield* portionsOf(names.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
}

/** Finds the instances with these names. */
export async function referencesToInstances(unit: ReadingUnit, names: readonly string[]): Promise<ByKey<InstanceRow>> {
	const rows = new Map((await rowsNamed(unit, names)).map((row) => [nameOf(row), row]));
	return (name, place) => {
		const row = rows.get(name);
		if (row === undefined) throw nothingAt(place, ResourceInstance.title, name);
		return row;
	};
}

/** The instances with these names, those that exist. */
export async function rowsNamed(unit: ReadingUnit, names: readonly string[]): Promise<readonly InstanceRow[]> {
	return [...(await instancesNamed(unit, names)).values()].flat();
}

function entryOf(row: InstanceRow): Entry<InstanceEntry> {
	const name = nameOf(row);
	return { name, place: [...member, name], value: { tenant: row.tenant, attributes: row.attributes } };
}

function nameOf({ resource, key }: InstanceRow): string {
	return instanceName(resource, key);
}

/** The parts of a name, which has two in every document. */
function partsOf(name: string) {
	return instanceParts(name) ?? { resource: name, key: name };
}
