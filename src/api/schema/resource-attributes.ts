import { z } from 'zod';
import { Resource } from '../../store/table/resource.js';
import { Reference } from '../../wire/common.js';
import { PageQuery } from '../../wire/query.js';
import { attributeEndpoints } from './attribute-endpoints.js';
import { ResourcePath } from './resources.js';

/** Resource attributes. The resource `__user` contains the user attributes. */
export const resourceAttributes = attributeEndpoints({
	noun: 'ResourceAttribute',
	owner: 'a resource',
	missing: 'No such resource or attribute',
	tag: 'Resource attributes',
	collection: '/v2/schema/:proj_id/:env_id/resources/:resource_id/attributes',
	params: ResourcePath,
	memberParams: ResourcePath.extend({ attribute_id: Reference }),
	query: z.object({}),
	listQuery: PageQuery,
	findResource: (unit, names) => unit.find(Resource, names['resource_id'] ?? ''),
});
