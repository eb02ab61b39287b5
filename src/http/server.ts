import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa, { type Context } from 'koa';
import { catalogue, Failure } from '../failure.js';
import { type BodyLimits, bodyMilliseconds, discardRest, readJson, waitsToSend } from './body.js';
import { answerCrossOrigin, type CrossOrigin } from './cross-origin.js';
import type { Endpoint, LargeBody, Request } from './endpoint.js';
import { bodyReadAhead } from './handed-over-request.js';
import { answerLean, isOrdinary, type LeanAccess, leanEndpoints } from './lean-path.js';
import { mount, type Surround } from './mount.js';
import { Pipeline } from './pipeline.js';
import { Tally } from './tally.js';

/** The largest request body, in bytes. A bulk of 3,000 users with a kilobyte of attributes each fits. */
export const maxBodyBytes = 5 * 1024 * 1024;

/** The most values of a request body. Members with names of their own cost a microsecond or two each. */
export const maxBodyValues = 131_072;

/**
 * For a larger body, how many bytes of its limit allow one value: documents of an environment are mostly short texts.
 */
const bytesPerValue = 16;

function bodyLimits(large: LargeBody | undefined, usual: number): BodyLimits {
	if (large === undefined) return { bytes: maxBodyBytes, values: maxBodyValues, milliseconds: usual };
	const milliseconds = usual * Math.max(1, Math.ceil(large.bytes / maxBodyBytes));
	return { ...large, values: Math.ceil(large.bytes / bytesPerValue), milliseconds };
}

/** Milliseconds within which the headers of a request must arrive. */
const headersMilliseconds = 15_000;
/** Milliseconds between two looks for connections whose request takes too long to arrive. */
const checkingMilliseconds = 5_000;

/**
 * How long an idle connection is kept. Longer than load balancers and clients keep theirs, which is a minute at most:
 * they must close first, or a request under way would meet a closed connection.
 */
const keepAliveMilliseconds = 65_000;

/** A request on whose path nothing is served. */
export interface UnmatchedRequest
	extends Pick<Request<unknown, Readonly<Record<string, unknown>>, unknown>, 'query' | 'cookie'> {
	/** As it was sent. */
	readonly path: string;
}

/** What one HTTP server serves, and how it answers. */
export interface Served {
	readonly endpoints: readonly Endpoint<string, never>[];
	readonly surround: Surround;
	/** The failure for a path on which nothing is served, where there is more to say; given the path as it was sent. */
	readonly unmatched?: (path: string) => Failure | null;
	/** The path of the page that answers a GET on which nothing is served; `null` where there is none. */
	readonly alias?: (request: UnmatchedRequest) => string | null;
	/** Which pages of other origins may call what with credentials; none by default. */
	readonly crossOrigin?: CrossOrigin;
	/** Whether answers on a path have the id that the request names in `X-Request-ID`; none by default. */
	readonly echoesRequestId?: (path: string) => boolean;
	/** The body of an error answer. API and decision point word theirs differently. The path is empty if it is unknown. */
	readonly renderFailure: (failure: Failure, requestId: string, path: string) => unknown;
	/** Headers for error answers too. */
	readonly failureHeaders?: () => Readonly<Record<string, string>>;
	/** Called with everything thrown that is not a `Failure`: a bug or a broken dependency. */
	readonly onUnexpected: (error: unknown, requestId: string) => void;
	/** Opens the lean path for endpoints that have one; without it, none has. */
	readonly lean?: LeanAccess;
	/** Called after every answer; `endpoint` is absent when no route matched. */
	readonly onAnswered?: (answered: Answered) => void;
	/** As the constant of this name, which is the default. */
	readonly bodyMilliseconds?: number;
	/** Calls `handle`, which handles a request, for example inside a span. Without this, `handle` is called directly. */
	readonly within?: WithinRequest | undefined;
}

/** See `Served.within`. Settles as `handle` does. */
export type WithinRequest = (request: Pick<IncomingMessage, 'headers'>, handle: () => Promise<void>) => Promise<void>;

/** One answered request, for logs and metrics. */
export interface Answered {
	readonly endpoint: string | undefined;
	/** The path of the endpoint's declaration, with the names of its parameters. */
	readonly route: string | undefined;
	readonly method: string;
	readonly path: string;
	readonly status: number;
	/** Seconds from the first byte read to the answer handed over. */
	readonly seconds: number;
	readonly id: string;
}

/** A server that listens, and how to stop it. */
export interface Listening {
	readonly url: string;
	readonly port: number;
	/**
	 * Stops accepting and waits until no connection is open and no handler runs. After `graceMilliseconds` it cuts the
	 * remaining connections and waits no longer.
	 */
	close(graceMilliseconds?: number): Promise<void>;
}

function asFailure(error: unknown, served: Served, requestId: string): Failure {
	if (error instanceof Failure) return error;
	served.onUnexpected(error, requestId);
	return new Failure('unexpected', 'an unexpected error occurred; the server log has the details under this id');
}

/** The largest body of an error answer, in bytes. */
const maxFailureBytes = 64 * 1024;

/** The body of an error answer. When it is too long, everything but the message is dropped. */
function failureText(failure: Failure, requestId: string, path: string, served: Pick<Served, 'renderFailure'>): string {
	const text = JSON.stringify(served.renderFailure(failure, requestId, path));
	if (Buffer.byteLength(text) <= maxFailureBytes) return text;
	return JSON.stringify(served.renderFailure(new Failure(failure.code, failure.message), requestId, path));
}

function writeFailure(ctx: Context, failure: Failure, served: Served): void {
	ctx.status = failure.status;
	ctx.body = failureText(failure, ctx.state['id'], ctx.path, served);
	// INVARIANT: exactly this value; clients compare it without parameters.
	ctx.set('content-type', 'application/json');
	if (failure.code === 'unauthorized') ctx.set('www-authenticate', 'Bearer');
	if (failure.retryAfter !== undefined) ctx.set('retry-after', String(failure.retryAfter));
	ctx.set(served.failureHeaders?.() ?? {});
}

/** An application that can also word failures for requests that never reach it. */
class Application extends Koa {
	constructor(
		readonly render: (failure: Failure, requestId: string) => string,
		/** Answers a request on the lean path, if it has one; resolves to whether it did. `undefined` where none can. */
		readonly leanPath: ((request: IncomingMessage, response: ServerResponse) => Promise<boolean> | undefined) | null,
		readonly within: WithinRequest | undefined,
		/** Milliseconds within which the largest body must arrive. */
		readonly longestBody: number,
	) {
		super();
	}
}

/** The lean path of a server. */
function leanPath(served: Served, lean: LeanAccess) {
	const endpoints = leanEndpoints(served.endpoints);
	return (request: IncomingMessage, response: ServerResponse): Promise<boolean> | undefined => {
		const { url: path = '', headers } = request;
		const endpoint = endpoints.get(path);
		if (endpoint === undefined || !isOrdinary(request)) return undefined;
		const id = requestId(path, headers['x-request-id'], served);
		const started = performance.now();
		return answerLean({ request, response, endpoint, id }, lean, (status) => {
			const seconds = (performance.now() - started) / 1_000;
			served.onAnswered?.({ endpoint: endpoint.name, route: path, method: 'POST', path, status, seconds, id });
		});
	};
}

/** Builds the Koa application of a server: request id, failures as answers, routes, a JSON 404 for the rest. */
export function createApplication(served: Served): Application {
	const limits = (large: LargeBody | undefined) => bodyLimits(large, served.bodyMilliseconds ?? bodyMilliseconds);
	const koa = new Application(
		(failure, id) => failureText(failure, id, '', served),
		served.lean === undefined ? null : leanPath(served, served.lean),
		served.within,
		Math.max(
			...[undefined, ...served.endpoints.map(({ largeBody }) => largeBody)].map((large) => limits(large).milliseconds),
		),
	);
	// Everything thrown was answered and reported before Koa sees it. This is only for broken sockets.
	koa.silent = true;
	const router = mount(served.endpoints, served.surround, ({ req, res }, large) =>
		readJson(req, res, limits(large), bodyReadAhead(req)),
	);
	const routes = router.routes();

	koa.use(async function collapseSlashes(ctx, next) {
		// Some clients join a base URL that ends in a slash with a path that begins with one.
		if (ctx.path.includes('//')) ctx.path = ctx.path.replace(/\/{2,}/g, '/');
		await next();
	});
	koa.use(async function answer(ctx, next) {
		const started = process.hrtime.bigint();
		const id = requestId(ctx.path, ctx.headers['x-request-id'], served);
		ctx.state['id'] = id;
		ctx.set('x-request-id', id);
		try {
			await next();
		} catch (error) {
			writeFailure(ctx, asFailure(error, served, id), served);
		}
		if (ctx.status === catalogue.late.status) ctx.set('connection', 'close');
		else leaveBody(ctx);
		const endpoint: Endpoint<string, never> | undefined = ctx.state['endpoint'];
		served.onAnswered?.({
			endpoint: endpoint?.name,
			route: endpoint?.path,
			method: ctx.method,
			path: ctx.path,
			status: ctx.respond === false ? ctx.res.statusCode : ctx.status,
			seconds: Number(process.hrtime.bigint() - started) / 1e9,
			id,
		});
	});
	koa.use(async function refuseMalformedPath(ctx, next) {
		if (ctx.path.includes('%') && !isDecodable(ctx.path)) {
			throw new Failure('invalid', `the path \`${ctx.path}\` contains malformed percent-encoding`);
		}
		await next();
	});
	if (served.crossOrigin) koa.use(answerCrossOrigin(served.crossOrigin));
	koa.use(routes);
	koa.use(async function unmatched(ctx, next) {
		const methods = router.match(ctx.path, '').path.flatMap((layer) => layer.methods);
		if (methods.length > 0) {
			ctx.set('allow', [...new Set(methods)].join(', '));
			throw new Failure('method', `\`${ctx.method}\` is not served on \`${ctx.path}\``);
		}
		const gone = served.unmatched?.(ctx.path);
		if (gone) throw gone;
		if (ctx.method === 'GET' || ctx.method === 'HEAD') {
			const { path, query } = ctx;
			const alias = served.alias?.({ path, query, cookie: (name) => ctx.cookies.get(name) }) ?? null;
			if (alias !== null) {
				ctx.path = alias;
				return routes(ctx as Parameters<typeof routes>[0], next);
			}
		}
		throw new Failure('not_found', `no endpoint is served on \`${ctx.path}\``);
	});
	return koa;
}

/** An id that may be repeated in a header and in logs: short, and printable. */
const repeatable = /^[\x20-\x7e]{1,256}$/;

/** The id of a request: the sender's where it is to be echoed, else a new one. */
function requestId(path: string, sent: string | string[] | undefined, { echoesRequestId }: Served): string {
	const echoed = typeof sent === 'string' && repeatable.test(sent) && echoesRequestId?.(path) === true;
	return echoed ? sent : randomUUID();
}

/** Ends a request that was answered without its body, or before its end. */
function leaveBody(ctx: Context): void {
	const { req, res, body } = ctx;
	if (req.complete) return;
	if (waitsToSend(req)) {
		// A client that was not told to continue may send its body all the same.
		if (!res.headersSent) res.setHeader('connection', 'close');
		discardRest(req);
	} else if (typeof body === 'string' && ctx.respond !== false && ctx.method !== 'HEAD') {
		// The answer is sent whole but ends only after the body: if the connection closed earlier, the rest of the body
		// would reset it, and the client would lose the answer.
		ctx.respond = false;
		res.write(body);
		discardRest(req, () => res.end());
	} else discardRest(req);
}

/** The router would pass an undecodable parameter on as it is. */
function isDecodable(path: string): boolean {
	try {
		decodeURIComponent(path);
		return true;
	} catch {
		return false;
	}
}

function closing(server: Server, graceMilliseconds: number): Promise<void> {
	return new Promise((resolve, reject) => {
		const cut = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
		// A kept-alive connection goes idle only after its last answer, and would then wait for its own timeout.
		const sweep = setInterval(() => server.closeIdleConnections(), 50);
		server.close((error) => {
			clearTimeout(cut);
			clearInterval(sweep);
			if (error) reject(error);
			else resolve();
		});
		server.closeIdleConnections();
	});
}

/** Whether a request's target has a path. Koa throws where it has none. */
function hasReadableTarget({ url = '' }: IncomingMessage): boolean {
	return url.startsWith('/') || url === '*' || URL.canParse(url);
}

function refuseTarget(response: ServerResponse, application: Application): void {
	const id = randomUUID();
	const headers = { connection: 'close', 'content-type': 'application/json', 'x-request-id': id };
	response.statusCode = 400;
	response.setHeaders(new Map(Object.entries(headers)));
	response.end(application.render(new Failure('invalid', malformed.message), id));
}

/** The answers to what Node.js could not read as a request, by its error code. Anything else is malformed. */
const unread: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
	HPE_HEADER_OVERFLOW: {
		status: '431 Request Header Fields Too Large',
		message: `the headers of a request may have at most ${maxHeaderSize} bytes`,
	},
	ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'the request was not complete in time' },
};
const malformed = { status: '400 Bad Request', message: 'this is not a valid HTTP request' };

const pipelines = new WeakMap<Duplex, Pipeline>();

function pipelineFor(socket: Socket): Pipeline {
	const known = pipelines.get(socket);
	if (known !== undefined) return known;
	const pipeline = new Pipeline(socket);
	pipelines.set(socket, pipeline);
	return pipeline;
}

/**
 * Whether a connection is in the middle of a request that has been answered already, so that nothing more can be sent.
 */
function isAnswered(socket: Duplex): boolean {
	const answer = pipelines.get(socket)?.lastAnswer;
	return answer?.headersSent === true && !answer.req.complete;
}

/** Answers something that is not a request, and closes the connection, in which the next request cannot be found. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex, application: Application): void {
	if (error.code === 'ECONNRESET' || !socket.writable || isAnswered(socket)) {
		socket.destroy();
		return;
	}
	const { status, message } = unread[error.code ?? ''] ?? malformed;
	const id = randomUUID();
	const body = application.render(new Failure('invalid', message), id);
	const headers = [
		'connection: close',
		'content-type: application/json',
		`content-length: ${Buffer.byteLength(body)}`,
		`x-request-id: ${id}`,
	];
	socket.end(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
}

/** Starts serving on `host` and `port` (0 picks a free one). Rejects with the system's error when it cannot listen. */
export async function listen(application: Application, host: string, port: number): Promise<Listening> {
	const usual = application.callback();
	/** Requests being handled. A client that disconnects does not end the work it asked for. */
	const handling = new Tally();
	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		handling.add();
		try {
			if ((await application.leanPath?.(request, response)) !== true) await usual(request, response);
		} finally {
			handling.remove();
		}
	};
	const { within } = application;
	const handle: typeof answer =
		within === undefined ? answer : (request, response) => within(request, () => answer(request, response));
	const serve = (request: IncomingMessage, response: ServerResponse) => {
		const pipeline = pipelineFor(request.socket);
		pipeline.lastAnswer = response;
		if (!hasReadableTarget(request)) return refuseTarget(response, application);
		pipeline.add(() => handle(request, response));
	};
	const { longestBody } = application;
	const server = createServer(
		{
			connectionsCheckingInterval: Math.min(checkingMilliseconds, longestBody),
			headersTimeout: Math.min(headersMilliseconds, longestBody),
			requestTimeout: longestBody,
		},
		serve,
	);
	// A client that waits for `100 Continue` gets it when its body is wanted.
	server.on('checkContinue', serve);
	server.keepAliveTimeout = keepAliveMilliseconds;
	server.on('clientError', (error, socket) => refuseUnread(error, socket, application));
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => {
			server.off('error', reject);
			resolve();
		});
	});
	const address = server.address() as AddressInfo;
	const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
	return {
		url: `http://${shown}:${address.port}`,
		port: address.port,
		async close(graceMilliseconds = 5000) {
			const given = sleep(graceMilliseconds, undefined, { ref: false });
			await closing(server, graceMilliseconds);
			await Promise.race([handling.none(), given]);
		},
	};
}

/** Listens on a port for a moment. Rejects with the error of the system when that fails. */
export async function tryPort(host: string, port: number): Promise<void> {
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => server.close(() => resolve()));
	});
}
