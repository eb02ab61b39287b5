import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, maxHeaderSize, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa, { type Context } from 'koa';
import { Failure } from '../failure.js';
import { type BodyLimits, discardRest, readJson, waitsToSend } from './body.js';
import type { Endpoint } from './endpoint.js';
import { mount, type Surround } from './mount.js';

/** The largest request body, in bytes. A bulk of 3,000 users with a kilobyte of attributes each fits. */
export const maxBodyBytes = 5 * 1024 * 1024;

/** The most values of a request body. Members with names of their own cost a microsecond or two each. */
export const maxBodyValues = 131_072;

/** How many bytes of its limit a larger body has for each value: documents of an environment are mostly short texts. */
const bytesPerValue = 16;

function bodyLimits(larger: number | undefined): BodyLimits {
	if (larger === undefined) return { bytes: maxBodyBytes, values: maxBodyValues };
	return { bytes: larger, values: Math.ceil(larger / bytesPerValue) };
}

/**
 * How long an idle connection is kept for its client. Longer than load balancers and clients keep theirs, which is a
 * minute at most: whoever closes first must be they, or a request on its way meets a closed connection.
 */
const keepAliveMilliseconds = 65_000;

/** What one HTTP server serves and how it speaks. */
export interface Served {
	readonly endpoints: readonly Endpoint<string, never>[];
	readonly surround: Surround;
	/** What to say of a path on which nothing is served, if it is more than that; the path as it was sent. */
	readonly unmatched?: (path: string) => Failure | null;
	/** The body of an error answer; API and decision point word theirs differently. */
	readonly renderFailure: (failure: Failure, requestId: string) => unknown;
	/** Headers that error answers carry too. */
	readonly failureHeaders?: () => Readonly<Record<string, string>>;
	/** Called with everything thrown that is no `Failure`: a bug or a broken dependency of ours. */
	readonly onUnexpected: (error: unknown, requestId: string) => void;
	/** Called after every answer; `endpoint` is absent when no route matched. */
	readonly onAnswered?: (answered: Answered) => void;
}

/** One answered request, for logs and metrics. */
export interface Answered {
	readonly endpoint: string | undefined;
	readonly method: string;
	readonly path: string;
	readonly status: number;
	/** From the first byte read to the answer handed over, in seconds. */
	readonly seconds: number;
	readonly id: string;
}

/** A server that listens, and how to stop it. */
export interface Listening {
	readonly url: string;
	readonly port: number;
	/**
	 * Stops accepting and waits until no connection is open and no handler runs any more; after `graceMilliseconds` it
	 * cuts the connections that are left and waits no longer.
	 */
	close(graceMilliseconds?: number): Promise<void>;
}

function asFailure(error: unknown, served: Served, requestId: string): Failure {
	if (error instanceof Failure) return error;
	served.onUnexpected(error, requestId);
	return new Failure('unexpected', 'an unexpected error occurred; the server log has it under this id');
}

/** The largest body of an error answer, in bytes. */
const maxFailureBytes = 64 * 1024;

/** The body of an error answer. What is beside the message gives way when it is too much. */
function textOf(failure: Failure, requestId: string, served: Pick<Served, 'renderFailure'>): string {
	const text = JSON.stringify(served.renderFailure(failure, requestId));
	if (Buffer.byteLength(text) <= maxFailureBytes) return text;
	return JSON.stringify(served.renderFailure(new Failure(failure.code, failure.message), requestId));
}

function writeFailure(ctx: Context, failure: Failure, served: Served): void {
	ctx.status = failure.status;
	ctx.body = textOf(failure, ctx.state['id'], served);
	// INVARIANT: exactly this value; clients compare it without parameters.
	ctx.set('content-type', 'application/json');
	ctx.set(served.failureHeaders?.() ?? {});
}

/** An application that can also word failures for requests that never reach it. */
class Application extends Koa {
	constructor(readonly render: (failure: Failure, requestId: string) => string) {
		super();
	}
}

/** Builds the Koa application of a server: request id, failures as answers, routes, a JSON 404 for the rest. */
export function createApplication(served: Served): Application {
	const koa = new Application((failure, id) => textOf(failure, id, served));
	// Everything thrown has been answered and reported before Koa could see it; this is only for broken sockets.
	koa.silent = true;
	const router = mount(served.endpoints, served.surround, ({ req, res }, larger) =>
		readJson(req, res, bodyLimits(larger)),
	);
	const routes = router.routes();

	koa.use(async function answer(ctx, next) {
		const started = process.hrtime.bigint();
		const id = randomUUID();
		ctx.state['id'] = id;
		ctx.set('x-request-id', id);
		try {
			await next();
		} catch (error) {
			writeFailure(ctx, asFailure(error, served, id), served);
		}
		leaveBody(ctx);
		const endpoint: Endpoint<string, never> | undefined = ctx.state['endpoint'];
		served.onAnswered?.({
			endpoint: endpoint?.name,
			method: ctx.method,
			path: ctx.path,
			status: ctx.respond === false ? ctx.res.statusCode : ctx.status,
			seconds: Number(process.hrtime.bigint() - started) / 1e9,
			id,
		});
	});
	koa.use(async function collapseSlashes(ctx, next) {
		// Some clients join a base URL that ends in a slash with a path that begins with one.
		if (ctx.path.includes('//')) ctx.path = ctx.path.replace(/\/{2,}/g, '/');
		await next();
	});
	koa.use(async function refuseMalformedPath(ctx, next) {
		if (ctx.path.includes('%') && !isDecodable(ctx.path)) {
			throw new Failure('invalid', `the path \`${ctx.path}\` holds a malformed percent-encoding`);
		}
		await next();
	});
	koa.use(routes);
	koa.use(function unmatched(ctx) {
		const methods = router.match(ctx.path, '').path.flatMap((layer) => layer.methods);
		if (methods.length > 0) {
			ctx.set('allow', [...new Set(methods)].join(', '));
			throw new Failure('method', `\`${ctx.method}\` is not served on \`${ctx.path}\``);
		}
		throw served.unmatched?.(ctx.path) ?? new Failure('not_found', `no endpoint is served on \`${ctx.path}\``);
	});
	return koa;
}

/** Ends a request that is answered without its body, or before the end of it. */
function leaveBody(ctx: Context): void {
	const { req, res, body } = ctx;
	if (req.complete) return;
	if (waitsToSend(req)) {
		// Nobody knows whether a client that was not told to go on sends its body all the same.
		if (!res.headersSent) res.setHeader('connection', 'close');
		discardRest(req);
	} else if (typeof body === 'string' && ctx.respond !== false && ctx.method !== 'HEAD') {
		// The answer goes out whole but does not end before the body does: where the connection is closed then, what is
		// still coming would reset it, and the client would lose the answer.
		ctx.respond = false;
		res.write(body);
		discardRest(req, () => res.end());
	} else discardRest(req);
}

/** The router would hand an undecodable parameter on as it is written. */
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

/** Whether a path can be found in what a request asks for; Koa throws where it cannot. */
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

/** What Node.js could not read as a request, by its code; the rest is malformed. */
const unread: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
	HPE_HEADER_OVERFLOW: {
		status: '431 Request Header Fields Too Large',
		message: `the headers of a request may hold at most ${maxHeaderSize} bytes`,
	},
	ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'the request was not complete in time' },
};
const malformed = { status: '400 Bad Request', message: 'this is not a valid HTTP request' };

/** The answer of the last request of each connection. */
const answers = new WeakMap<Duplex, ServerResponse>();

/** Whether a connection is in the middle of a request that has been answered: nothing more can be said on it. */
function isAnswered(socket: Duplex): boolean {
	const answer = answers.get(socket);
	return answer?.headersSent === true && !answer.req.complete;
}

/** Answers what is no request, and closes the connection: where the next one begins in it nobody knows. */
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
	const handle = application.callback();
	/** Requests being handled: a client that goes away does not end the work it asked for. */
	const handling = new Set<Promise<void>>();
	const serve = (request: IncomingMessage, response: ServerResponse) => {
		answers.set(request.socket, response);
		if (!hasReadableTarget(request)) return refuseTarget(response, application);
		const handled = handle(request, response).finally(() => handling.delete(handled));
		handling.add(handled);
	};
	const server = createServer(serve);
	// A client that asks first is told to go on when its body is wanted.
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
			await Promise.race([Promise.allSettled(handling), given]);
		},
	};
}
