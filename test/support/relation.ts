import { Relation } from '../../src/store/table/relation.js';
import { Resource } from '../../src/store/table/resource.js';
import type { Place } from './management.js';

/** Lets instances of `subject` be the subjects of a relation to instances of `object`, both resources by key. */
export async function relate(place: Place, object: string, key: string, subject: string): Promise<void> {
	const { store, id, project_id, organization_id } = place;
	await store.write({ environment_id: id, project_id, organization_id }, null, async (unit) => {
		const resource_id = (await unit.find(Resource, object)).id;
		const subject_resource_id = (await unit.find(Resource, subject)).id;
		await unit.create(Relation, { key, name: key, resource_id, subject_resource_id }, `${object}:${key}`);
	});
}
