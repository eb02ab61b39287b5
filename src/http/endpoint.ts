import type { Readable } from 'node:stream';
import type { z } from 'zod';

/** Declarations of endpoints. A single value contains the validation, types, access, statuses and documentation. */

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Success statuses, each with its body schema; `null` for an empty body. */
export type Returns = Readonly<Record<number, z.ZodType | null>>;

type ReplyHeaders = Readonly<Record<string, string>>;

/** Response from a handler: a declared status with its body, which has not been filtered by its schema yet. */
export type Reply<R extends Returns> = {
	[S in keyof R]: R[S] extends z.ZodType
		? { readonly status: S; readonly body: z.input<R[S]>; readonly headers?: ReplyHeaders }
		: { readonly status: S; readonly headers?: ReplyHeaders };
}[keyof R];

/** Returns a response without a body. */
export function reply<S extends number>(status: S): { readonly status: S };
/** Returns a response with a body. The status keeps its literal type, which selects the body schema. */
export function reply<S extends number, B>(
	status: S,
	body: B,
	headers?: ReplyHeaders,
): { readonly status: S; readonly body: B; readonly headers?: ReplyHeaders };
export function reply(status: number, body?: unknown, headers?: ReplyHeaders): object {
	return { status, ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
}

/** Returns the response without a body, 204, after `work`. */
export async function emptied(work: Promise<unknown>): Promise<{ readonly status: 204 }> {
	await work;
	return reply(204);
}

/**
 * A raw response, not filtered by a schema. Used for content other than JSON, such as bundles and pages, and for
 * responses that are too long to build in one step. In this case, `bytes` contains chunks.
 */
export class Raw {
	constructor(
		readonly status: number,
		readonly headers: ReplyHeaders,
		readonly bytes: Uint8Array | string | readonly string[],
	) {}
}

/** A validated request. Header names are in lowercase. `closed` aborts when the client disconnects. */
export interface Request<P, Q, B> {
	readonly params: P;
	readonly query: Q;
	readonly body: B;
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly cookie: (name: string) => string | undefined;
	readonly closed: AbortSignal;
	/** Path and query as they were sent. */
	readonly target: string;
	/** Returns the raw body, for endpoints that forward it and declare no schema. */
	readonly stream: () => Readable;
	/** Request id, sent in the `x-request-id` header and in error bodies. */
	readonly id: string;
	/** Unique id; differs from `id` if the client has chosen that one. */
	readonly ownId: string;
}

/** Result of a lean handler that leaves the request to the declared path. */
export const declaredPath = Symbol('declared path');

/**
 * Result of a lean handler: a response with its headers as a flat list of names and values, or `declaredPath`. A frozen
 * body is serialized once.
 */
export type LeanResult =
	| { readonly status: number; readonly body: object; readonly headers: readonly string[] }
	| Raw
	| typeof declaredPath;

/** Deprecation notice. */
export interface Deprecation {
	/** Date from which the endpoint is deprecated, in ISO 8601. */
	readonly since: string;
	/** Replacement path. It may contain parameters from the deprecated path. */
	readonly successor: string;
}

/** Limits for endpoints that accept large bodies. */
export interface LargeBody {
	/** Maximum size in bytes. */
	readonly bytes: number;
	/** Level at which objects have no size limit. The body itself is level 1. */
	readonly mapLevel: number;
}

/** Declaration of an endpoint. Routing, validation, types and OpenAPI all use it. */
export interface Declaration<
	Access extends string,
	Context,
	P extends z.ZodType,
	Q extends z.ZodType,
	B extends z.ZodType,
	R extends Returns,
	Lean = never,
> {
	/** Stable name in camelCase, unique in its table. It is the OpenAPI `operationId`. */
	readonly name: string;
	readonly summary: string;
	readonly description?: string;
	readonly tag: string;
	readonly method: Method;
	/** Path, such as `/v2/schema/:proj_id/:env_id/roles`. */
	readonly path: string;
	/** Access rule name. The server that mounts the table defines these names. */
	readonly access: Access;
	readonly params?: P;
	readonly query?: Q;
	readonly body?: B;
	/** A valid example body, for the documentation. */
	readonly example?: unknown;
	/** Request headers that handlers read, for the documentation. */
	readonly requestHeaders?: z.ZodObject;
	/** Headers of successful responses, in addition to the headers for the access level. For the documentation. */
	readonly answerHeaders?: z.ZodObject;
	/** Content types other than JSON, keyed by status. For the documentation. */
	readonly answerTypes?: Readonly<Record<number, string>>;
	/**
	 * Set if a GET request has side effects. A HEAD request then returns 405, because clients expect no side effects
	 * from HEAD.
	 */
	readonly withoutHead?: true;
	/**
	 * Handles ordinary requests on the lean path, in one step, with the same responses as `handle`. It must have no effect
	 * if it returns `declaredPath`. The endpoint must be a POST without parameters.
	 */
	readonly lean?: (body: z.output<B>, context: Lean) => object | Raw | typeof declaredPath;
	/** Set if responses contain secrets. Disables caching. */
	readonly secret?: true;
	/** Set if bodies may exceed the server limit. */
	readonly largeBody?: LargeBody;
	/**
	 * Set if the body, a list, may also be sent as JSON lines (`application/x-ndjson`). Its items are then of the class
	 * `JsonLine`.
	 */
	readonly lines?: true;
	readonly returns: R;
	/** Set for endpoints that exist only for older clients. Every response contains the deprecation notice. */
	readonly deprecated?: Deprecation;
	/**
	 * Failures specific to the endpoint, keyed by status. The shared failures 401, 403 and 422 are added automatically.
	 */
	readonly failures?: Readonly<Record<number, string>>;
	readonly handle: (
		request: Request<z.output<P>, z.output<Q>, z.output<B>>,
		context: Context,
	) => Promise<Reply<R> | Raw> | Reply<R> | Raw;
}

/** An endpoint without its specific types, for tables and for `mount`. */
export interface Endpoint<Access extends string = string, Context = never>
	extends Omit<Declaration<Access, Context, z.ZodType, z.ZodType, z.ZodType, Returns>, 'handle' | 'lean'> {
	readonly lean?: (body: unknown, context: never) => object | Raw | typeof declaredPath;
	readonly handle: (
		request: Request<unknown, unknown, unknown>,
		context: Context,
	) => Promise<Reply<Returns> | Raw> | Reply<Returns> | Raw;
}

/** Returns the fields that endpoints at one path share, for each method. */
export function methods<Shared extends object>(shared: Shared) {
	return {
		get: { ...shared, method: 'get' },
		post: { ...shared, method: 'post' },
		put: { ...shared, method: 'put' },
		patch: { ...shared, method: 'patch' },
		delete: { ...shared, method: 'delete' },
	} as const;
}

/**
 * Returns the `endpoint` function for a server. `Contexts` maps each access name to the context that handlers receive.
 * A handler therefore cannot be declared with less access than its context requires. `Lean` is the context on the lean
 * path.
 */
export function declaring<Contexts, Lean = never>() {
	return function endpoint<
		Access extends keyof Contexts & string,
		R extends Returns,
		P extends z.ZodType = z.ZodType<Readonly<Record<string, string>>>,
		Q extends z.ZodType = z.ZodType<Readonly<Record<string, unknown>>>,
		B extends z.ZodType = z.ZodType<undefined>,
	>(declaration: Declaration<Access, Contexts[Access], P, Q, B, R, Lean>): Endpoint<Access, Contexts[Access]> {
		// The cast drops the handler's types. `mount` calls the handler only with the output of these schemas.
		return declaration as unknown as Endpoint<Access, Contexts[Access]>;
	};
}
