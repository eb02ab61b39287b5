import { z } from 'zod';
import { unprocessable } from '../../failure.js';
import { Resource } from '../../store/table/resource.js';
import { asId, Reference } from '../../wire/common.js';
import { pageShape } from '../../wire/query.js';
import { EnvironmentPath } from '../access.js';
import { attributeEndpoints } from './attribute-endpoints.js';

/** Key of the resource with the user attributes. */
const users = '__user';
const query = z.object({
	resource_id: Reference.optional().meta({ description: '`__user` or its id; optional.' }),
});

/** User attributes, stored on the resource `__user`. */
export const userAttributes = attributeEndpoints({
	noun: 'UserAttribute',
	owner: 'users',
	missing: 'No such attribute',
	tag: 'User attributes',
	collection: '/v2/schema/:proj_id/:env_id/users/attributes',
	params: EnvironmentPath,
	memberParams: EnvironmentPath.extend({ attribute_id: Reference }),
	query,
	listQuery: query.extend(pageShape),
	findResource: async (unit, _, { resource_id }) => {
		const resource = await unit.find(Resource, users);
		if (resource_id === undefined || resource_id === users || asId(resource_id) === resource.id) return resource;
		const msg = `must be \`${users}\`: attributes of other resources have a separate path`;
		throw unprocessable([{ loc: ['query', 'resource_id'], msg, type: 'other_resource' }]);
	},
});
