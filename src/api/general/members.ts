import { z } from 'zod';
import { reply } from '../../http/endpoint.js';
import { Reference } from '../../wire/common.js';
import { Members } from '../../wire/general/statistics.js';
import { pageShape } from '../../wire/query.js';
import { endpoint } from '../access.js';

/** Organization members. The list is always empty, because a self-hosted installation has API keys instead. */
export const members = [
	endpoint({
		name: 'listMembers',
		summary: 'List organization members (always empty)',
		description: 'Members are people who sign in to a hosted service. A self-hosted installation has API keys instead.',
		tag: 'Organizations',
		method: 'get',
		path: '/v2/members',
		access: 'organization.read',
		query: z.object({ project_id: Reference.optional(), env_id: Reference.optional(), ...pageShape }),
		returns: { 200: Members },
		handle: () => reply(200, []),
	}),
];
