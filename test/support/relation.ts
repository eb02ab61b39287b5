import { Relation } from '../../src/store/table/relation.js';
import { Resource } from '../../src/store/table/resource.js';
import { Role } from '../../src/store/table/role.js';
import type { WritingUnit } from '../../src/store/unit.js';
import type { Place } from './management.js';

/** Relations and roles of resources, made in the store: what stands on them is tested before they are served. */

/** Adds a relation of instances of `subject` to instances of `object`. Returns its id. */
export async function addRelation(place: Place, object: string, key: string, subject: string): Promise<string> {
	return written(place, async (unit) => {
		const { id: resource_id } = await unit.find(Resource, object);
		const { id: subject_resource_id } = await unit.find(Resource, subject);
		return (await unit.create(Relation, { key, name: key, resource_id, subject_resource_id }, key)).id;
	});
}

/** Adds a role of a resource, without permissions. Returns its id. */
export async function addResourceRole(place: Place, resource: string, key: string): Promise<string> {
	return written(place, async (unit) => {
		const { id: resource_id } = await unit.find(Resource, resource);
		return (await unit.create(Role, { key, name: key, resource_id }, key)).id;
	});
}

async function written<T>(place: Place, work: (unit: WritingUnit) => Promise<T>): Promise<T> {
	const { id, organization_id, project_id, store } = place;
	return (await store.write({ organization_id, project_id, environment_id: id }, null, work)).value;
}
