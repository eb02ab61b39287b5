import { z } from 'zod';
import { methods, Raw, reply } from '../../http/endpoint.js';
import { endpoint } from '../access.js';

const Part = z.enum(['ok', 'unavailable']);

const Readiness = z
	.object({
		status: Part.describe('`ok` if the database and the compiler are `ok`.'),
		database: Part.describe('`ok` if the database responds.'),
		compiler: Part.describe('`ok` if `opa` runs. A schema with errors does not count as a compiler failure.'),
	})
	.meta({ id: 'Readiness', description: 'State of each dependency for serving writes.' });

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
		...methods({ tag: 'General', path: '/healthy' }).get,
		name: 'healthy',
		summary: 'Check whether the API is running',
		access: 'public',
		returns: { 200: z.object({ status: z.string().describe('Always `ok`.') }).describe('The API is running.') },
		handle: () => reply(200, { status: 'ok' }),
	}),
	endpoint({
		...methods({ tag: 'General', path: '/ready' }).get,
		name: 'ready',
		summary: 'Check whether the API can serve requests',
		description:
			'Checks the database and the compiler. A 503 response contains the failed dependency. If the ' +
			'compiler has failed, the API still serves reads and fact writes. A schema with errors does not ' +
			'count as a compiler failure.',
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
		...methods({ tag: 'General', path: '/version' }).get,
		name: 'version',
		summary: 'Get the program version and the contract version',
		access: 'probe',
		returns: { 200: Version },
		handle: (_, { version }) => reply(200, { version, api_version: 'v2' }),
	}),
	endpoint({
		...methods({ tag: 'General', path: '/metrics' }).get,
		name: 'metrics',
		summary: 'Get process metrics for Prometheus',
		description:
			'Prometheus text format. Metrics cover the whole process, with all environments. Labels never contain request ' +
			'values. `docs/operate/operation.md` explains each metric.',
		access: 'metrics',
		returns: { 200: null },
		answerTypes: { 200: 'text/plain' },
		handle: async (_, { render, type }) =>
			new Raw(200, { 'content-type': type, 'cache-control': 'no-store' }, await render()),
	}),
];
