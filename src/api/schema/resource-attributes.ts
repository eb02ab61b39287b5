import { z } from 'zod';
import { defined } from '../../domain/defined.js';
import { changeAttribute, removeAttribute } from '../../domain/resource.js';
import { reply } from '../../http/endpoint.js';
import { pageOf } from '../../store/filter.js';
import { attributesBy, Resource, ResourceAttribute } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit.js';
import { Reference } from '../../wire/common.js';
import { PageQuery } from '../../wire/query.js';
import {
	AttributeType,
	ResourceAttributeCreate,
	ResourceAttributeRead,
	ResourceAttributeUpdate,
} from '../../wire/resource-attribute.js';
import { endpoint } from '../access.js';
import { ResourcePath } from './resources.js';

const tag = 'Resource attributes';
const collection = '/v2/schema/:proj_id/:env_id/resources/:resource_id/attributes';
const member = `${collection}/:attribute_id`;
const AttributePath = ResourcePath.extend({ attribute_id: Reference });

/** Attributes of a resource, and of users on the resource `__user` (contract: Resource attributes). */
export const resourceAttributes = [
	endpoint({
		name: 'listResourceAttributes',
		summary: 'List the attributes of a resource',
		tag,
		method: 'get',
		path: collection,
		access: 'environment.read',
		params: ResourcePath,
		query: PageQuery,
		returns: { 200: z.array(ResourceAttributeRead) },
		failures: { 404: 'No such resource' },
		handle: async ({ params, query }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const { data } = await pageOf(attributesBy(unit, resource.id), query);
			return reply(
				200,
				data.map((attribute) => readAttribute(unit, resource, attribute)),
			);
		},
	}),
	endpoint({
		name: 'createResourceAttribute',
		summary: 'Add an attribute to a resource',
		tag,
		method: 'post',
		path: collection,
		access: 'environment.write',
		params: ResourcePath,
		body: ResourceAttributeCreate,
		example: { key: 'private', type: 'bool' },
		returns: { 200: ResourceAttributeRead },
		failures: { 404: 'No such resource', 409: 'The resource has an attribute with this key' },
		handle: async ({ params, body }, { unit }) => {
			const resource = await unit.find(Resource, params.resource_id);
			const columns = { ...defined(body), resource_id: resource.id };
			const attribute = await unit.create(ResourceAttribute, columns, `${resource.key}:${body.key}`);
			return reply(200, readAttribute(unit, resource, attribute));
		},
	}),
	endpoint({
		name: 'getResourceAttribute',
		summary: 'One attribute of a resource',
		tag,
		method: 'get',
		path: member,
		access: 'environment.read',
		params: AttributePath,
		returns: { 200: ResourceAttributeRead },
		failures: { 404: 'No such resource or attribute' },
		handle: async ({ params }, { unit }) => {
			const { resource, attribute } = await findAttribute(unit, params);
			return reply(200, readAttribute(unit, resource, attribute));
		},
	}),
	endpoint({
		name: 'updateResourceAttribute',
		summary: 'Change fields of an attribute',
		tag,
		method: 'patch',
		path: member,
		access: 'environment.write',
		params: AttributePath,
		body: ResourceAttributeUpdate,
		example: { description: 'Only its owner sees it' },
		returns: { 200: ResourceAttributeRead },
		failures: { 400: 'The attribute is built in', 404: 'No such resource or attribute' },
		handle: async ({ params, body }, { unit }) => {
			const { resource, attribute } = await findAttribute(unit, params);
			return reply(200, readAttribute(unit, resource, await changeAttribute(unit, resource, attribute, body)));
		},
	}),
	endpoint({
		name: 'deleteResourceAttribute',
		summary: 'Delete an attribute of a resource',
		tag,
		method: 'delete',
		path: member,
		access: 'environment.write',
		params: AttributePath,
		returns: { 204: null },
		failures: { 400: 'The attribute is built in', 404: 'No such resource or attribute' },
		handle: async ({ params }, { unit }) => {
			const { resource, attribute } = await findAttribute(unit, params);
			await removeAttribute(unit, resource, attribute);
			return reply(204);
		},
	}),
];

async function findAttribute(unit: ReadingUnit, params: z.output<typeof AttributePath>) {
	const resource = await unit.find(Resource, params.resource_id);
	const attribute = await unit.find(ResourceAttribute, params.attribute_id, { resource_id: resource.id });
	return { resource, attribute };
}

function readAttribute(unit: ReadingUnit, resource: Resource, attribute: ResourceAttribute): ResourceAttributeRead {
	// The column only ever got values of this list.
	return { ...attribute, ...unit.scope, type: AttributeType.parse(attribute.type), resource_key: resource.key };
}
