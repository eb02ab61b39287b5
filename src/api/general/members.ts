import { z } from 'zod';
import { methods, reply } from '../../http/endpoint.js';
import { Reference } from '../../wire/common.js';
import { Members } from '../../wire/general/statistics.js';
import { pageShape } from '../../wire/query.js';
import { endpoint } from '../access.js';

/** Organization members. The list is always empty, because a self-hosted installation has API keys instead. */
export const members = [
	endpoint({
		...methods({ tag: 'Organizations', path: '/v2/members' }).get,
		name: 'listMembers',
		summary: 'List organization members (always empty)',
		description: 'Members are people who sign in to a hosted service. A self-hosted installation has API keys instead.',
		access: 'organization.read',
		query: z.object({ project_id: Reference.optional(), env_id: Reference.optional(), ...pageShape }),
		returns: { 200: Members },
		handle: () => reply(200, []),
	}),
];
