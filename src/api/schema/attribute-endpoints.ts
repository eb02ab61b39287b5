import { z } from 'zod';
import { definedFields } from '../../domain/schema/defined-fields.js';
import { changeAttribute, removeAttributes } from '../../domain/schema/resource-attribute.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import type { Page } from '../../store/query/row-query.js';
import { attributesIn, type Resource, ResourceAttribute } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import {
	AttributeType,
	ResourceAttributeCreate,
	ResourceAttributeRead,
	ResourceAttributeUpdate,
} from '../../wire/schema/resource-attribute.js';
import { endpoint } from '../access.js';

type Names = Readonly<Record<string, string>>;

/** Query parameters: an optional resource. */
interface Asked {
	readonly resource_id?: string | undefined;
}

/** Attribute location: below the resource in the path, or on a separate path for a fixed resource. */
export interface AttributeHome {
	/** Noun in operation names, such as `ResourceAttribute` in `createResourceAttribute`. */
	readonly noun: string;
	/** Attribute owner, for use in sentences. */
	readonly owner: string;
	/** Text for 404 responses. */
	readonly missing: string;
	readonly tag: string;
	/** List path. An attribute has the path `:attribute_id` below it. */
	readonly collection: string;
	readonly params: z.ZodType<Names>;
	readonly memberParams: z.ZodType<Names & { readonly attribute_id: string }>;
	readonly query: z.ZodType<Asked>;
	readonly listQuery: z.ZodType<Asked & Page>;
	/** Finds the attribute owner. Throws `not_found` for an unknown resource. */
	readonly findResource: (unit: ReadingUnit, names: Names, asked: Asked) => Promise<Resource>;
}

/** Returns the endpoints for attributes: list, create, get, update and delete. */
export function attributeEndpoints(home: AttributeHome) {
	const { noun, owner, missing, tag, collection, params, memberParams, query, listQuery, findResource } = home;
	const member = `${collection}/:attribute_id`;

	async function find(unit: ReadingUnit, names: z.output<typeof memberParams>, asked: Asked) {
		const resource = await findResource(unit, names, asked);
		const attribute = await unit.find(ResourceAttribute, names.attribute_id, { resource_id: resource.id });
		return { resource, attribute };
	}

	return [
		endpoint({
			...methods({ tag, path: collection, params }).get,
			name: `list${noun}s`,
			summary: `List the attributes of ${owner}`,
			access: 'environment.read',
			query: listQuery,
			returns: { 200: z.array(ResourceAttributeRead) },
			failures: { 404: missing },
			handle: async (request, { unit }) => {
				const resource = await findResource(unit, request.params, request.query);
				const data = await attributesIn(unit, [resource.id]).slice(request.query);
				const items = data.map((attribute) => readAttribute(unit, resource, attribute));
				return reply(200, items);
			},
		}),
		endpoint({
			...methods({ tag, path: collection, params }).post,
			name: `create${noun}`,
			summary: `Add an attribute to ${owner}`,
			access: 'environment.write',
			query,
			body: ResourceAttributeCreate,
			example: { key: 'private', type: 'bool' },
			returns: { 200: ResourceAttributeRead },
			failures: { 404: missing, 409: 'An attribute with this key already exists' },
			handle: async (request, { unit }) => {
				const resource = await findResource(unit, request.params, request.query);
				const columns = { ...definedFields(request.body), resource_id: resource.id };
				const attribute = await unit.create(ResourceAttribute, columns, `${resource.key}:${request.body.key}`);
				return reply(200, readAttribute(unit, resource, attribute));
			},
		}),
		endpoint({
			...methods({ tag, path: member, params: memberParams }).get,
			name: `get${noun}`,
			summary: `Get an attribute of ${owner}`,
			access: 'environment.read',
			query,
			returns: { 200: ResourceAttributeRead },
			failures: { 404: missing },
			handle: async (request, { unit }) => {
				const { resource, attribute } = await find(unit, request.params, request.query);
				return reply(200, readAttribute(unit, resource, attribute));
			},
		}),
		endpoint({
			...methods({ tag, path: member, params: memberParams }).patch,
			name: `update${noun}`,
			summary: `Update an attribute of ${owner}`,
			access: 'environment.write',
			query,
			body: ResourceAttributeUpdate,
			example: { description: 'Visible only to the owner' },
			returns: { 200: ResourceAttributeRead },
			failures: { 400: 'The attribute is built in', 404: missing },
			handle: async (request, { unit }) => {
				const { resource, attribute } = await find(unit, request.params, request.query);
				const after = await changeAttribute(unit, resource, attribute, request.body);
				return reply(200, readAttribute(unit, resource, after));
			},
		}),
		endpoint({
			...methods({ tag, path: member, params: memberParams }).delete,
			name: `delete${noun}`,
			summary: `Delete an attribute of ${owner}`,
			access: 'environment.write',
			query,
			returns: { 204: null },
			failures: { 400: 'The attribute is built in', 404: missing },
			handle: async (request, { unit }) => {
				const { resource, attribute } = await find(unit, request.params, request.query);
				return emptied(removeAttributes(unit, resource, [attribute]));
			},
		}),
	];
}

function readAttribute(unit: ReadingUnit, resource: Resource, attribute: ResourceAttribute): ResourceAttributeRead {
	// The database column contains only values from this list.
	return { ...attribute, ...unit.scope, type: AttributeType.parse(attribute.type), resource_key: resource.key };
}
