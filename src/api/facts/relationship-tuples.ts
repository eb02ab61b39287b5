import {
	readDetailedTuples,
	readTuple,
	relate,
	relateMany,
	unrelate,
	unrelateMany,
} from '../../domain/facts/relationship-tuple.js';
import { reply } from '../../http/endpoint.js';
import { Relation } from '../../store/table/relation.js';
import { type TupleRow, tuplesBy } from '../../store/table/relationship-tuple.js';
import { Resource } from '../../store/table/resource.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { type PageResult, readPage } from '../../store/unit/row-query.js';
import { BulkReport } from '../../wire/facts/bulk.js';
import {
	maxBulkTuples,
	RelationshipTupleBulkCreate,
	RelationshipTupleBulkRemove,
	RelationshipTupleCreate,
	RelationshipTupleDetailedListQuery,
	RelationshipTupleQuery,
	RelationshipTupleRead,
	RelationshipTupleRemove,
} from '../../wire/facts/relationship-tuple.js';
import { arrayOrPaginated, paginated } from '../../wire/list.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { listAnswer, withItems } from '../list-answer.js';
import { findIds, findInstanceIds } from './find-ids.js';

const tag = 'Relationship tuples';
const collection = '/v2/facts/:proj_id/:env_id/relationship_tuples';
const triple = { subject: 'folder:finance', relation: 'parent', object: 'document:budget' };
const example = { ...triple, tenant: 'default' };
const filterText =
	'Filters may be repeated: an object has to match one value of each filter. Values that name nothing match nothing.';
const mismatch =
	'The instances are not in the same tenant, the subject is not of the type that the relation takes, or too many roles ' +
	'would lead to one in a cycle';
const missing = 'A relation or tenant does not exist, or an instance that cannot be created';
const collectionPlace = { tag, path: collection, params: EnvironmentPath } as const;
const bulkPlace = { tag, path: `${collection}/bulk`, params: EnvironmentPath } as const;

/** Relationships between instances. */
export const relationshipTuples = [
	endpoint({
		...collectionPlace,
		name: 'listRelationshipTuples',
		summary: 'List relationship tuples',
		description: `${filterText} \`detailed\` adds what is known of both instances, the relation and the tenant.`,
		method: 'get',
		access: 'environment.read',
		query: RelationshipTupleQuery,
		returns: { 200: arrayOrPaginated(RelationshipTupleRead) },
		handle: async ({ query }, { unit }) => {
			const page = await tuplePage(unit, query);
			const items = query.detailed
				? await readDetailedTuples(unit, page.data)
				: page.data.map((row) => readTuple(unit, row));
			return reply(200, listAnswer(withItems(page, items), query.include_total_count));
		},
	}),
	endpoint({
		name: 'listDetailedRelationshipTuples',
		summary: 'List relationship tuples with what is known of what they join',
		description: filterText,
		tag,
		method: 'get',
		path: `${collection}/detailed`,
		access: 'environment.read',
		params: EnvironmentPath,
		query: RelationshipTupleDetailedListQuery,
		returns: { 200: paginated(RelationshipTupleRead) },
		handle: async ({ query }, { unit }) => {
			const page = await tuplePage(unit, query);
			return reply(200, { ...page, data: [...(await readDetailedTuples(unit, page.data))] });
		},
	}),
	endpoint({
		...collectionPlace,
		name: 'createRelationshipTuple',
		summary: 'Relate an instance to another',
		description:
			'`relation` is one of the relations of the object’s resource. Instances that do not exist are created in ' +
			'`tenant`; where both exist, `tenant` says nothing.',
		method: 'post',
		access: 'environment.write',
		body: RelationshipTupleCreate,
		example,
		returns: { 200: RelationshipTupleRead },
		failures: { 400: mismatch, 404: missing, 409: 'This relationship exists already' },
		handle: async ({ body }, { unit }) => reply(200, readTuple(unit, await relate(unit, body))),
	}),
	endpoint({
		...collectionPlace,
		name: 'deleteRelationshipTuple',
		summary: 'End the relationship of an instance to another',
		method: 'delete',
		access: 'environment.write',
		body: RelationshipTupleRemove,
		example: triple,
		returns: { 204: null },
		failures: { 400: 'A key alone names several instances', 404: 'No such relationship' },
		handle: async ({ body }, { unit }) => {
			await unrelate(unit, body);
			return reply(204);
		},
	}),
	endpoint({
		...bulkPlace,
		name: 'createRelationshipTuples',
		summary: 'Relate many instances at once',
		description: `At most ${maxBulkTuples} in one call; all or none. Existing tuples are skipped.`,
		method: 'post',
		access: 'environment.write',
		body: RelationshipTupleBulkCreate,
		example: { operations: [example] },
		returns: { 200: BulkReport },
		failures: { 400: mismatch, 404: missing },
		handle: async ({ body }, { unit }) => {
			await relateMany(unit, body.operations);
			return reply(200, {});
		},
	}),
	endpoint({
		...bulkPlace,
		name: 'deleteRelationshipTuples',
		summary: 'End many relationships at once',
		description: `At most ${maxBulkTuples} in one call. Missing tuples are skipped.`,
		method: 'delete',
		access: 'environment.write',
		body: RelationshipTupleBulkRemove,
		example: { idents: [triple] },
		returns: { 200: BulkReport },
		failures: { 400: 'A key alone names several instances' },
		handle: async ({ body }, { unit }) => {
			await unrelateMany(unit, body.idents);
			return reply(200, {});
		},
	}),
];

async function tuplePage(unit: ReadingUnit, query: RelationshipTupleDetailedListQuery): Promise<PageResult<TupleRow>> {
	const filter = {
		tenant_ids: await findIds(unit, Tenant, query.tenant),
		relation_ids: await findIds(unit, Relation, query.relation),
		subject_ids: await findInstanceIds(unit, query.subject),
		object_ids: await findInstanceIds(unit, query.object),
		subject_type_ids: await findIds(unit, Resource, query.subject_type),
		object_type_ids: await findIds(unit, Resource, query.object_type),
	};
	return readPage(tuplesBy(unit, filter), query);
}
