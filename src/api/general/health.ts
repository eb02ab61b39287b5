import { z } from 'zod';
import { reply } from '../../http/endpoint.js';
import { endpoint } from '../access.js';

/** Whether the process answers. */
export const health = [
	endpoint({
		name: 'healthy',
		summary: 'Whether the API answers',
		tag: 'General',
		method: 'get',
		path: '/healthy',
		access: 'public',
		returns: { 200: z.object({ status: z.string() }) },
		handle: () => reply(200, { status: 'ok' }),
	}),
];
