import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import Koa, { type Context } from 'koa';
import { catalogue, Failure } from '../failure.js';
import { type BodyLimits, bodyMilliseconds, discardRest, readJson, waitsToSend } from './body.js';
import { answerCrossOrigin, type CrossOrigin } from './cross-origin.js';
import type { Endpoint, LargeBody, Request } from './endpoint.js';
import { refusedBody } from './handed-over-request.js';
import { type LeanAccess, LeanPath } from './lean-path.js';
import { mount, type Surround } from './mount.js';
import { Pipeline } from './pipeline.js';
import { Tally } from './tally.js';

/** Maximum body size in bytes. A bulk request with 3,000 users fits if each user has a kilobyte of attributes. */
export const maxBodyBytes = 5 * 1024 * 1024;

/** Maximum number of values per body. Each field with a distinct name costs a microsecond or two. */
export const maxBodyValues = 131_072;

/** Bytes per allowed value in large bodies. Environment documents contain mostly short strings. */
const bytesPerValue = 16;

function bodyLimits(large: LargeBody | undefined, usual: number): BodyLimits {
	if (large === undefined) return { bytes: maxBodyBytes, values: maxBodyValues, milliseconds: usual };
	const milliseconds = usual * Math.max(1, Math.ceil(large.bytes / maxBodyBytes));
	return { ...large, values: Math.ceil(large.bytes / bytesPerValue), milliseconds };
}

/** Time in milliseconds until the request headers must be complete. */
const headersMilliseconds = 15_000;
/** Time in milliseconds between checks for slow requests. */
const checkingMilliseconds = 5_000;

/**
 * Time in milliseconds until an idle connection is closed. This is longer than the timeouts of load balancers and
 * clients, which are at most a minute. Load balancers and clients must close the connection first; otherwise a request
 * that was just sent could arrive at a closed connection.
 */
const keepAliveMilliseconds = 65_000;

/**
 * Time in milliseconds, after a stop begins, during which open connections still serve requests. Their responses
 * announce the end of the connection. A client that sends requests one after another therefore never loses a request.
 */
const drainMilliseconds = 50;

/** Request for a path without an endpoint. */
export interface UnmatchedRequest
	extends Pick<Request<unknown, Readonly<Record<string, unknown>>, unknown>, 'query' | 'cookie'> {
	/** Path as it was sent. */
	readonly path: string;
}

/** Content and behavior of an HTTP server. */
export interface Served {
	readonly endpoints: readonly Endpoint<string, never>[];
	readonly surround: Surround;
	/** Returns a specific failure for a raw path that no endpoint serves; `null` for the default failure. */
	readonly unmatched?: (path: string) => Failure | null;
	/** Returns the path to the page that should serve an unmatched GET request; `null` if there is none. */
	readonly alias?: (request: UnmatchedRequest) => string | null;
	/** Rules for pages with a different origin. If absent, no CORS headers are sent. */
	readonly crossOrigin?: CrossOrigin;
	/** True if responses on a path echo `X-Request-ID`. By default, no response does. */
	readonly echoesRequestId?: (path: string) => boolean;
	/**
	 * Renders an error's body. The API and the decision point use different formats. The path is empty if it is
	 * unknown.
	 */
	readonly renderFailure: (failure: Failure, requestId: string, path: string) => unknown;
	/** Headers for error responses. */
	readonly failureHeaders?: () => Readonly<Record<string, string>>;
	/** Receives every error that is not a `Failure`. Such an error comes from a bug or a broken dependency. */
	readonly onUnexpected: (error: unknown, requestId: string) => void;
	/** Enables the lean path for endpoints with `lean`. */
	readonly lean?: LeanAccess;
	/** Called after every response. `endpoint` is absent if no route matched. */
	readonly onAnswered?: (answered: Answered) => void;
	/** Default: the constant with the same name. */
	readonly bodyMilliseconds?: number;
	/** Wraps `handle`, for example in a span. If absent, `handle` is called directly. */
	readonly within?: WithinRequest | undefined;
	/** Traces requests on the lean path, which `within` does not wrap. */
	readonly leanTracing?: LeanTracing | undefined;
}

/** See `Served.leanTracing`. */
export interface LeanTracing {
	/**
	 * True if the current request already runs in a span. Such a request is served on the declared path, not on the
	 * lean path.
	 */
	readonly isObserved: () => boolean;
	/** Called after every response on the lean path. */
	readonly answered: (headers: IncomingMessage['headers'], answered: Answered) => void;
}

/** See `Served.within`. Settles with the result of `handle`. */
export type WithinRequest = (request: Pick<IncomingMessage, 'headers'>, handle: () => Promise<void>) => Promise<void>;

/** Completed request, for logs and metrics. */
export interface Answered {
	readonly endpoint: string | undefined;
	/** Path from the endpoint declaration, with parameter names. */
	readonly route: string | undefined;
	readonly method: string;
	readonly path: string;
	readonly status: number;
	/** Time in seconds from the start of processing until the response is ready. */
	readonly seconds: number;
	readonly id: string;
}

export interface Listening {
	readonly url: string;
	readonly port: number;
	/**
	 * Stops accepting connections, announces the end of open connections, and waits until all connections are closed and
	 * all handlers have finished. After `graceMilliseconds`, cuts the remaining connections and returns.
	 */
	close(graceMilliseconds?: number): Promise<void>;
}

function asFailure(error: unknown, served: Served, requestId: string): Failure {
	if (error instanceof Failure) return error;
	served.onUnexpected(error, requestId);
	return new Failure('unexpected', 'an unexpected error occurred; the server log has the details under this id');
}

/** Maximum size of an error body, in bytes. */
const maxFailureBytes = 64 * 1024;

/** Renders an error's body. If the body is too long, only the message is kept. */
function failureText(failure: Failure, requestId: string, path: string, served: Pick<Served, 'renderFailure'>): string {
	const text = JSON.stringify(served.renderFailure(failure, requestId, path));
	if (Buffer.byteLength(text) <= maxFailureBytes) return text;
	return JSON.stringify(served.renderFailure(new Failure(failure.code, failure.message), requestId, path));
}

function writeFailure(ctx: Context, failure: Failure, served: Served): void {
	ctx.status = failure.status;
	ctx.body = failureText(failure, ctx.state['id'], ctx.path, served);
	// INVARIANT: the value must be exactly this, because clients compare it without parsing parameters.
	ctx.set('content-type', 'application/json');
	if (failure.code === 'unauthorized') ctx.set('www-authenticate', 'Bearer');
	if (failure.retryAfter !== undefined) ctx.set('retry-after', String(failure.retryAfter));
	ctx.set(served.failureHeaders?.() ?? {});
}

/** Koa application that also renders failures for requests that do not reach Koa. */
class Application extends Koa {
	constructor(
		readonly render: (failure: Failure, requestId: string) => string,
		/** Lean path; `null` if there is none. */
		readonly leanPath: LeanPath | null,
		readonly within: WithinRequest | undefined,
		/** Time limit, in milliseconds, for receiving a body of the largest allowed size. */
		readonly longestBody: number,
	) {
		super();
	}
}

function createLeanPath(served: Served, access: LeanAccess): LeanPath {
	const { endpoints, leanTracing } = served;
	return new LeanPath({
		endpoints,
		access,
		requestId: (path, sent, ownId) => requestId(path, sent, ownId, served),
		isObserved: leanTracing?.isObserved ?? (() => false),
		answered: ({ endpoint, request, status, seconds, id }) => {
			const { name, path } = endpoint;
			const answered: Answered = { endpoint: name, route: path, method: 'POST', path, status, seconds, id };
			served.onAnswered?.(answered);
			leanTracing?.answered(request.headers, answered);
		},
	});
}

/**
 * Builds the Koa application. It sets the request id, renders failures, serves the routes, and returns a JSON 404 for
 * paths without a route.
 */
export function createApplication(served: Served): Application {
	const limits = (large: LargeBody | undefined) => bodyLimits(large, served.bodyMilliseconds ?? bodyMilliseconds);
	const koa = new Application(
		(failure, id) => failureText(failure, id, '', served),
		served.lean === undefined ? null : createLeanPath(served, served.lean),
		served.within,
		Math.max(
			...[undefined, ...served.endpoints.map(({ largeBody }) => largeBody)].map((large) => limits(large).milliseconds),
		),
	);
	// All other errors have already been sent to the client, so this setting affects only broken sockets.
	koa.silent = true;
	const router = mount(served.endpoints, served.surround, ({ req, res }, large, lines) =>
		readJson(req, res, limits(large), { ahead: refusedBody(req), lines }),
	);
	const routes = router.routes();

	koa.use(async function collapseSlashes(ctx, next) {
		// Some clients join a base URL with a trailing slash and a path with a leading slash.
		if (ctx.path.includes('//')) ctx.path = ctx.path.replace(/\/{2,}/g, '/');
		await next();
	});
	koa.use(async function answer(ctx, next) {
		const started = process.hrtime.bigint();
		const ownId = randomUUID();
		const id = requestId(ctx.path, ctx.headers['x-request-id'], ownId, served);
		ctx.state['id'] = id;
		ctx.state['ownId'] = ownId;
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

/** Request ids that are safe in headers and logs: short and printable. */
const repeatable = /^[\x20-\x7e]{1,256}$/;

/** Returns the request id from the sender if it may be echoed. Otherwise returns `ownId`. */
function requestId(
	path: string,
	sent: string | string[] | undefined,
	ownId: string,
	{ echoesRequestId }: Served,
): string {
	if (typeof sent !== 'string' || echoesRequestId?.(path) !== true) return ownId;
	return repeatable.test(sent) ? sent : ownId;
}

/** Finishes a request whose response was sent before its body was complete. */
function leaveBody(ctx: Context): void {
	const { req, res, body } = ctx;
	if (req.complete) return;
	if (waitsToSend(req)) {
		// A client that gets no `100 Continue` may still send its body, so close the connection after the response.
		if (!res.headersSent) res.setHeader('connection', 'close');
		discardRest(req);
	} else if (typeof body === 'string' && ctx.respond !== false && ctx.method !== 'HEAD') {
		// Send the complete response, but end it only after the body. If the connection closed earlier, the remaining body
		// would reset it, and the client would lose the response.
		ctx.respond = false;
		res.write(body);
		discardRest(req, () => res.end());
	} else discardRest(req);
}

/** True if all parameters in a path can be decoded. The router would pass on undecodable parameters unchanged. */
function isDecodable(path: string): boolean {
	try {
		decodeURIComponent(path);
		return true;
	} catch {
		return false;
	}
}

async function closing(server: Server, sockets: ReadonlySet<Socket>, graceMilliseconds: number): Promise<void> {
	const cut = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
	const closed = once(server, 'close');
	// Only stops accepting. The method of the HTTP server would also close idle connections, although their next request
	// may be on its way.
	NetServer.prototype.close.call(server);
	if (sockets.size > 0) await sleep(drainMilliseconds);
	// Requests that have arrived by now are read before their connections become idle.
	await setImmediate();
	server.close();
	// A kept-alive connection becomes idle only after its last response. Without this sweep, it would then wait for its
	// own timeout. Browsers and HTTP clients also open spare connections, which Node.js counts as idle only after a
	// request.
	const sweep = setInterval(() => {
		server.closeIdleConnections();
		for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
	}, 50);
	await closed;
	clearTimeout(cut);
	clearInterval(sweep);
}

/**
 * Announces in the newest response of a connection that the connection then closes. Earlier responses leave it open.
 */
function announceEnd(socket: Socket, newest: ServerResponse): void {
	const pipeline = pipelineFor(socket);
	if (pipeline.lastAnswer !== undefined) pipeline.lastAnswer.shouldKeepAlive = true;
	pipeline.lastAnswer = newest;
	newest.shouldKeepAlive = false;
}

/** True if a request's target has a path. Koa throws if there is none. */
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

/**
 * Responses to unreadable requests, keyed by Node.js error code. All other errors are treated as malformed requests.
 */
const unread: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
	HPE_HEADER_OVERFLOW: {
		status: '431 Request Header Fields Too Large',
		message: `request headers may have at most ${maxHeaderSize} bytes`,
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

/** True if the response to the current request on a connection was already sent, so nothing more can be sent. */
function isAnswered(socket: Duplex): boolean {
	const answer = pipelines.get(socket)?.lastAnswer;
	return answer?.headersSent === true && !answer.req.complete;
}

/** Responds to unreadable input and closes the connection, because the start of the next request is unknown. */
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

/**
 * Starts serving on `host` and `port`. Port 0 picks a free port. Rejects with the system error if the server cannot
 * listen.
 */
export async function listen(application: Application, host: string, port: number): Promise<Listening> {
	const usual = application.callback();
	/** Requests that are being handled. They continue even if the client disconnects. */
	const handling = new Tally();
	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		handling.add();
		try {
			await usual(request, response);
		} finally {
			handling.remove();
		}
	};
	const { within } = application;
	const handle: typeof answer =
		within === undefined ? answer : (request, response) => within(request, () => answer(request, response));
	const serveDeclared = (request: IncomingMessage, response: ServerResponse) => {
		const pipeline = pipelineFor(request.socket);
		pipeline.lastAnswer = response;
		if (!hasReadableTarget(request)) return refuseTarget(response, application);
		pipeline.add(() => handle(request, response));
	};
	const { leanPath } = application;
	let isStopping = false;
	const serve = (request: IncomingMessage, response: ServerResponse) => {
		if (isStopping) announceEnd(request.socket, response);
		const pass = () => serveDeclared(request, response);
		if (leanPath?.take(request, response, pass) !== true) pass();
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
	// A client that waits for `100 Continue` gets it when its body is needed.
	server.on('checkContinue', serve);
	server.keepAliveTimeout = keepAliveMilliseconds;
	server.on('clientError', (error, socket) => refuseUnread(error, socket, application));
	const sockets = new Set<Socket>();
	server.on('connection', (socket) => {
		sockets.add(socket);
		socket.once('close', () => sockets.delete(socket));
	});
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
			isStopping = true;
			for (const socket of sockets) {
				const newest = pipelines.get(socket)?.lastAnswer;
				if (newest !== undefined) announceEnd(socket, newest);
			}
			await closing(server, sockets, graceMilliseconds);
			await Promise.race([handling.none(), given]);
		},
	};
}

/** Listens on a port briefly. Rejects with the system error. */
export async function tryPort(host: string, port: number): Promise<void> {
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, host, () => server.close(() => resolve()));
	});
}
