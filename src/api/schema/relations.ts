import type { z } from 'zod';
import {
	changeRelation,
	createRelation,
	readRelation,
	readRelations,
	removeRelations,
} from '../../domain/schema/relation.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { Relation, relationsBy } from '../../store/table/relation.js';
import { Resource } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { Reference } from '../../wire/common.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { RelationCreate, RelationRead, RelationUpdate } from '../../wire/schema/relation.js';
import { endpoint } from '../access.js';
import { ResourcePath } from './resources.js';

const tag = 'Resource relations';
const collection = '/v2/schema/:proj_id/:env_id/resources/:resource_id/relations';
const member = `${collection}/:relation_id`;
const RelationPath = ResourcePath.extend({ relation_id: Reference });
const collectionPlace = methods({ tag, path: collection, params: ResourcePath });
const memberPlace = methods({ tag, path: member, params: RelationPath });

/** Relations whose objects belong to a resource type. */
export const relations = [
	endpoint({
		...collectionPlace.get,
		name: 'listResourceRelations',
		summary: 'List the relations of a resource',
		description: 'Lists relations whose objects are instances of this resource.',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: paginated(RelationRead) },
		failures: { 404: 'No such resource' },
		handle: async ({ params, query }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const page = await relationsBy(unit, [resource.id]).page(query);
			return reply(200, { ...page, data: [...(await readRelations(unit, page.data))] });
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createResourceRelation',
		summary: 'Add a relation to a resource',
		description: 'Instances of the subject resource may then be related to instances of this resource, the objects.',
		access: 'environment.write',
		body: RelationCreate,
		example: { key: 'parent', name: 'Parent', subject_resource: 'document' },
		returns: { 200: RelationRead },
		failures: {
			404: 'No such resource or subject resource',
			409: 'The resource already has a relation with this key',
		},
		handle: async ({ params, body }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			return reply(200, await readRelation(unit, await createRelation(unit, resource, body)));
		},
	}),
	endpoint({
		...memberPlace.get,
		name: 'getResourceRelation',
		summary: 'Get a relation of a resource',
		access: 'environment.read',
		returns: { 200: RelationRead },
		failures: { 404: 'No such resource or relation' },
		handle: async ({ params }, { unit }) => reply(200, await readRelation(unit, await findRelation(unit, params))),
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateResourceRelation',
		summary: 'Update a relation of a resource',
		description:
			'`grant_conditions` is replaced as a whole. A set cannot be removed from it while relationships exist under ' +
			'this set.',
		access: 'environment.write',
		body: RelationUpdate,
		example: { description: 'The folder that contains the document' },
		returns: { 200: RelationRead },
		failures: {
			400: 'With conditions, a check would take too long',
			404: 'No such resource or relation',
			409: 'Relationships exist under a removed condition set',
		},
		handle: async ({ params, body }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const relation = await findRelation(unit, params);
			return reply(200, await readRelation(unit, await changeRelation(unit, resource, relation, body)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteResourceRelation',
		summary: 'Delete a relation with its relationship tuples and derivations',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such resource or relation' },
		handle: async ({ params }, { unit }) => emptied(removeRelations(unit, [await findRelation(unit, params)])),
	}),
];

async function findRelation(unit: ReadingUnit, params: z.output<typeof RelationPath>): Promise<Relation> {
	const resource = await unit.find(Resource, params.resource_id);
	return unit.find(Relation, params.relation_id, { resource_id: resource.id });
}
