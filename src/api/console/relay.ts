import type { Readable } from 'node:stream';
import { Failure } from '../../failure.js';
import { methods, Raw, type Request } from '../../http/endpoint.js';
import { type Contexts, EnvironmentPath, endpoint } from '../access.js';
import type { RelayAnswer } from './relay-target.js';

const prefix = '/console/pdp/:proj_id/:env_id';
const tag = 'Console';

/** Maximum request body in bytes. */
const maxRelayedQuestion = 1024 * 1024;

/** Decision point endpoints that sessions may call: decisions and status. */
const relayed = [
	['post', '/allowed'],
	['post', '/allowed/bulk'],
	['post', '/allowed/all-tenants'],
	['post', '/allowed_url'],
	['post', '/user-permissions'],
	['post', '/authorized_users'],
	['post', '/filter'],
	['get', '/healthy'],
	['get', '/ready'],
	['get', '/version'],
] as const;

/** Request headers passed to the decision point. */
const passed = ['x-min-revision', 'x-debug'] as const;
/** Response headers passed to the page. */
const returned = ['x-revision', 'x-revision-token', 'x-policy-revision', 'x-decision-id', 'x-min-revision'] as const;

/**
 * Relays console queries to decision points with the environment's key, which pages never see. The decision point's own
 * document describes these endpoints, so the OpenAPI document omits them.
 */
export const consoleRelay = [
	...relayed.map(([method, path]) =>
		endpoint({
			name: `${method}ConsolePdp${path}`,
			summary: "Forward a request to the decision point of the session's environment",
			tag,
			method,
			path: prefix + path,
			access: method === 'get' ? 'console.watch' : 'console.ask',
			params: EnvironmentPath,
			returns: {},
			handle: (request, context) => ask(method, path, request, context),
		}),
	),
	endpoint({
		...methods({ tag, path: '/console/pdp{/*rest}' }).get,
		name: 'getConsolePdp',
		summary: 'Handle unknown paths below the console',
		access: 'public',
		returns: {},
		handle: ({ target }) => {
			throw new Failure('not_found', `no endpoint is served on \`${target}\``);
		},
	}),
];

/** Forwards a query and returns the response. */
async function ask(
	method: 'get' | 'post',
	path: string,
	request: Request<unknown, unknown, unknown>,
	{ target, secret, relay }: Contexts['console.ask'],
): Promise<Raw> {
	const { headers, closed } = request;
	const body = method === 'get' ? null : await readBytes(request, maxRelayedQuestion);
	const call = {
		method: method === 'get' ? 'GET' : 'POST',
		url: target.url + path,
		headers: {
			...chosen(passed, (name) => headers[name]),
			authorization: `Bearer ${await secret()}`,
			accept: 'application/json',
			...(body === null ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
		},
		body,
		signal: closed,
	} as const;
	const answer = await relay(call).catch((error: unknown) => {
		throw new Failure(
			'no_decision_point',
			`the decision point for this environment did not respond: ${connectionProblem(error)}`,
		);
	});
	refuseForeignAnswer(answer);
	const given = chosen(returned, (name) => {
		const value = answer.headers[name];
		return typeof value === 'string' ? value : undefined;
	});
	const own = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
	return new Raw(answer.status, { ...given, ...own }, answer.text);
}

/**
 * Throws `no_decision_point` if the response does not come from a decision point, or if the decision point rejects the
 * environment's key.
 */
function refuseForeignAnswer({ status, headers }: RelayAnswer): void {
	if (status === 401 || status === 403) {
		throw new Failure(
			'no_decision_point',
			"the decision point rejected this environment's key: it serves a different environment, or the key was rotated",
		);
	}
	const type = headers['content-type'];
	if (status >= 200 && !(status >= 300 && status < 400) && /^application\/json\b/i.test(String(type))) return;
	throw new Failure(
		'no_decision_point',
		`the server at the decision point's URL is not a decision point: it responded with status ${status}`,
	);
}

/** Describes a failed connection. Omits the URL, which only the operator may know. */
function connectionProblem(error: unknown): string {
	if (!(error instanceof Error)) return 'the connection failed';
	if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timeout';
	const { code } = error as NodeJS.ErrnoException;
	return code ?? error.message;
}

/** Reads the raw request body. Throws `too_large`. Throws `invalid` if the body is incomplete or compressed. */
function readBytes({ headers, stream }: Request<unknown, unknown, unknown>, most: number): Promise<Uint8Array> {
	if (headers['content-encoding'] !== undefined) {
		throw new Failure('invalid', 'the body must not be compressed: remove `Content-Encoding`');
	}
	const tooLarge = () => new Failure('too_large', `the body must not be larger than ${most} bytes`);
	if (Number(headers['content-length'] ?? 0) > most) throw tooLarge();
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let bytes = 0;
		const source: Readable = stream();
		const read = (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes <= most) return void chunks.push(chunk);
			source.off('data', read);
			reject(tooLarge());
		};
		const broken = () => reject(new Failure('invalid', 'the body is incomplete'));
		source.on('data', read).once('end', () => resolve(Buffer.concat(chunks)));
		source.once('error', broken).once('close', broken);
	});
}

/** Picks the named headers, if present. */
function chosen(
	names: readonly string[],
	find: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
	return Object.fromEntries(
		names.flatMap((name) => {
			const value = find(name);
			return value === undefined ? [] : [[name, value]];
		}),
	);
}
