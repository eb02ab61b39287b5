import {
	readDetailedTuples,
	readTuple,
	relate,
	relateMany,
	unrelate,
	unrelateMany,
} from '../../domain/facts/relationship-tuple.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import type { RowQuery } from '../../store/query/row-query.js';
import { Relation } from '../../store/table/relation.js';
import { type TupleRow, tuplesBy } from '../../store/table/relationship-tuple.js';
import { Resource } from '../../store/table/resource.js';
import { Tenant } from '../../store/table/tenant.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
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
import { listAnswer } from '../list-answer.js';
import { findIds, findInstanceIds } from './find-ids.js';

const tag = 'Relationship tuples';
const collection = '/v2/facts/:proj_id/:env_id/relationship_tuples';
const triple = { subject: 'folder:finance', relation: 'parent', object: 'document:budget' };
const example = { ...triple, tenant: 'default' };
const filterText =
	'Filters may be repeated: an object must match one value of each filter. Unknown values match nothing.';
const mismatch =
	"The instances are in different tenants, the subject's type does not fit the relation, or a role would be derived " +
	'from too many roles in a cycle';
const missing = 'A relation or tenant does not exist, or a missing instance cannot be created';
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const bulkPlace = methods({ tag, path: `${collection}/bulk`, params: EnvironmentPath });

/** Relationships between instances. */
export const relationshipTuples = [
	endpoint({
		...collectionPlace.get,
		name: 'listRelationshipTuples',
		summary: 'List relationship tuples',
		description: `${filterText} \`detailed\` adds instance, relation and tenant details.`,
		access: 'environment.read',
		query: RelationshipTupleQuery,
		returns: { 200: arrayOrPaginated(RelationshipTupleRead) },
		handle: async ({ query }, { unit }) => {
			const page = await (await filterTuples(unit, query)).list(query);
			const items = query.detailed
				? await readDetailedTuples(unit, page.data)
				: page.data.map((row) => readTuple(unit, row));
			return reply(200, listAnswer(page, items));
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/detailed`, params: EnvironmentPath }).get,
		name: 'listDetailedRelationshipTuples',
		summary: 'List relationship tuples with instance, relation and tenant details',
		description: filterText,
		access: 'environment.read',
		query: RelationshipTupleDetailedListQuery,
		returns: { 200: paginated(RelationshipTupleRead) },
		handle: async ({ query }, { unit }) => {
			const page = await (await filterTuples(unit, query)).page(query);
			return reply(200, { ...page, data: [...(await readDetailedTuples(unit, page.data))] });
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createRelationshipTuple',
		summary: 'Create a relationship tuple',
		description:
			"`relation` must be a relation of the object's resource. Missing instances are created in `tenant`, which is " +
			'ignored if both exist. With `condition`, roles are derived from the relationship only while the condition ' +
			'holds. Creating it again under the same condition replaces the values and the expiry.',
		access: 'environment.write',
		body: RelationshipTupleCreate,
		example,
		returns: { 200: RelationshipTupleRead },
		failures: { 400: mismatch, 404: missing, 409: 'This relationship already exists' },
		handle: async ({ body }, { unit }) => reply(200, readTuple(unit, await relate(unit, body))),
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'deleteRelationshipTuple',
		summary: 'Delete a relationship tuple',
		access: 'environment.write',
		body: RelationshipTupleRemove,
		example: triple,
		returns: { 204: null },
		failures: { 400: 'A bare instance key is ambiguous', 404: 'No such relationship tuple' },
		handle: ({ body }, { unit }) => emptied(unrelate(unit, body)),
	}),
	endpoint({
		...bulkPlace.post,
		name: 'createRelationshipTuples',
		summary: 'Create relationship tuples in bulk',
		description:
			`At most ${maxBulkTuples} tuples per call; all or none are created. Existing tuples are skipped, unless they get a ` +
			'later expiry or different values for their condition.',
		access: 'environment.write',
		body: RelationshipTupleBulkCreate,
		example: { operations: [example] },
		returns: { 200: BulkReport },
		failures: { 400: mismatch, 404: missing },
		handle: async ({ body }, { unit }) => {
			await relateMany(unit, body.operations, (index) => ['body', 'operations', index]);
			return reply(200, {});
		},
	}),
	endpoint({
		...bulkPlace.delete,
		name: 'deleteRelationshipTuples',
		summary: 'Delete relationship tuples in bulk',
		description: `At most ${maxBulkTuples} tuples per call. Missing tuples are skipped.`,
		access: 'environment.write',
		body: RelationshipTupleBulkRemove,
		example: { idents: [triple] },
		returns: { 200: BulkReport },
		failures: { 400: 'A bare instance key is ambiguous' },
		handle: async ({ body }, { unit }) => {
			await unrelateMany(unit, body.idents);
			return reply(200, {});
		},
	}),
];

async function filterTuples(unit: ReadingUnit, query: RelationshipTupleDetailedListQuery): Promise<RowQuery<TupleRow>> {
	const filter = {
		tenant_ids: await findIds(unit, Tenant, query.tenant),
		relation_ids: await findIds(unit, Relation, query.relation),
		subject_ids: await findInstanceIds(unit, query.subject),
		object_ids: await findInstanceIds(unit, query.object),
		subject_type_ids: await findIds(unit, Resource, query.subject_type),
		object_type_ids: await findIds(unit, Resource, query.object_type),
		...(query.conditional && { conditional: true as const }),
	};
	return tuplesBy(unit, filter);
}
