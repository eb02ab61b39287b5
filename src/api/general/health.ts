import { z } from 'zod';
import { Raw, reply } from '../../http/endpoint.js';
import { endpoint } from '../access.js';

const Part = z.enum(['ok', 'unavailable']);

const Readiness = z
	.object({
		status: Part.describe('`ok` if the database and the compiler are `ok`.'),
		database: Part.describe('`ok` if the database answers.'),
		compiler: Part.describe('`ok` if `opa` runs and the last schema compiled or failed because of its contents.'),
	})
	.meta({ id: 'Readiness', description: 'The dependencies for serving writes, and whether they work.' });

const Version = z
	.object({
		version: z.string().describe('The program version.'),
		api_version: z.string().describe('The API version, always `v2`.'),
	})
	.meta({ id: 'Version', description: 'The running program and the API version it serves.' });

const word = (works: boolean) => (works ? 'ok' : 'unavailable');

/** Endpoints for probes and monitoring. */
export const health = [
	endpoint({
		name: 'healthy',
		summary: 'Whether the API answers',
		tag: 'General',
		method: 'get',
		path: '/healthy',
		access: 'public',
		returns: { 200: z.object({ status: z.string().describe('Always `ok`.') }).describe('The API answers.') },
		handle: () => reply(200, { status: 'ok' }),
	}),
	endpoint({
		name: 'ready',
		summary: 'Whether the API can serve: the database answers, and the compiler works',
		description:
			'503 names what does not. An API whose compiler does not work still serves reads and writes of facts. A schema ' +
			'that cannot be compiled is no fault of the compiler.',
		tag: 'General',
		method: 'get',
		path: '/ready',
		access: 'probe',
		returns: { 200: Readiness, 503: Readiness },
		handle: async (_, { probe }) => {
			const { database, compiler } = await probe();
			const parts = { database: word(database), compiler: word(compiler) } as const;
			return database && compiler
				? reply(200, { status: 'ok' as const, ...parts })
				: reply(503, { status: 'unavailable' as const, ...parts });
		},
	}),
	endpoint({
		name: 'version',
		summary: 'The version of the program and that of the contract that is served',
		tag: 'General',
		method: 'get',
		path: '/version',
		access: 'probe',
		returns: { 200: Version },
		handle: (_, { version }) => reply(200, { version, api_version: 'v2' }),
	}),
	endpoint({
		name: 'metrics',
		summary: 'The numbers of the process, for Prometheus',
		description:
			'Text in the format of Prometheus. The numbers are those of the process, so of all environments. No label has a ' +
			'value from a request. `docs/operate/operation.md` says what each number is.',
		tag: 'General',
		method: 'get',
		path: '/metrics',
		access: 'metrics',
		returns: { 200: null },
		answerTypes: { 200: 'text/plain' },
		handle: async (_, { render, type }) =>
			new Raw(200, { 'content-type': type, 'cache-control': 'no-store' }, await render()),
	}),
];
