import { Relation } from '../../src/store/table/relation.js';
import { Resource } from '../../src/store/table/resource.js';
import { type Place, scopeIn } from './management.js';

/** Lets instances of `subject` be the subjects of a relation to instances of `object`, both resources by key. */
export async function relate(place: Place, object: string, key: string, subject: string): Promise<void> {
	await place.store.write(scopeIn(place), null, async (unit) => {
		const resource_id = (await unit.find(Resource, object)).id;
		const subject_resource_id = (await unit.find(Resource, subject)).id;
		await unit.create(Relation, { key, name: key, resource_id, subject_resource_id }, `${object}:${key}`);
	});
}
