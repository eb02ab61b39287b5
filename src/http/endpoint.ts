import type { Readable } from 'node:stream';
import type { z } from 'zod';

/** Endpoint declarations: validation, types, access, statuses and documentation in a single value. */

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Success statuses, each with its body schema; `null` for an empty body. */
export type Returns = Readonly<Record<number, z.ZodType | null>>;

type ReplyHeaders = Readonly<Record<string, string>>;

/** Answer from a handler: a declared status with its body, before the body schema filters it. */
export type Reply<R extends Returns> = {
	[S in keyof R]: R[S] extends z.ZodType
		? { readonly status: S; readonly body: z.input<R[S]>; readonly headers?: ReplyHeaders }
		: { readonly status: S; readonly headers?: ReplyHeaders };
}[keyof R];

/** Returns an answer without a body. */
export function reply<S extends number>(status: S): { readonly status: S };
/** Returns an answer with a body. The status keeps its literal type, which selects the body schema. */
export function reply<S extends number, B>(
	status: S,
	body: B,
	headers?: ReplyHeaders,
): { readonly status: S; readonly body: B; readonly headers?: ReplyHeaders };
export function reply(status: number, body?: unknown, headers?: ReplyHeaders): object {
	return { status, ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
}

/**
 * Raw answer, for content other than JSON (bundles, pages) or for answers that are too long to build without a pause
 * (`bytes` then holds chunks). No schema filters it.
 */
export class Raw {
	constructor(
		readonly status: number,
		readonly headers: ReplyHeaders,
		readonly bytes: Uint8Array | string | readonly string[],
	) {}
}

/** Validated request. Header names are lower case. `closed` aborts when the client disconnects. */
export interface Request<P, Q, B> {
	readonly params: P;
	readonly query: Q;
	readonly body: B;
	readonly headers: Readonly<Record<string, string | undefined>>;
	/** Returns the cookie with this name. */
	readonly cookie: (name: string) => string | undefined;
	readonly closed: AbortSignal;
	/** Raw path and query. */
	readonly target: string;
	/** Raw body, for endpoints that forward it and declare no schema. */
	readonly stream: () => Readable;
	/** Request id, sent in the `x-request-id` header and in error bodies. */
	readonly id: string;
}

/** Deprecation notice. */
export interface Deprecation {
	/** Start date, as ISO 8601. */
	readonly since: string;
	/** Replacement path. It may use parameters of the deprecated path. */
	readonly successor: string;
}

/** Limits for endpoints that accept large bodies. */
export interface LargeBody {
	/** Maximum bytes. */
	readonly bytes: number;
	/** Level whose objects have no member limit. The body itself is level 1. */
	readonly mapLevel: number;
}

/** Declaration of an endpoint, shared by routing, validation, types and OpenAPI. */
export interface Declaration<
	Access extends string,
	Context,
	P extends z.ZodType,
	Q extends z.ZodType,
	B extends z.ZodType,
	R extends Returns,
> {
	/** Stable camelCase name, unique in its table; the OpenAPI `operationId`. */
	readonly name: string;
	readonly summary: string;
	readonly description?: string;
	readonly tag: string;
	readonly method: Method;
	/** For example `/v2/schema/:proj_id/:env_id/roles`. */
	readonly path: string;
	/** Access rule. The server that mounts the table defines the names. */
	readonly access: Access;
	readonly params?: P;
	readonly query?: Q;
	readonly body?: B;
	/** Valid body, for the documentation. */
	readonly example?: unknown;
	/** Request headers that handlers read, for the documentation. */
	readonly requestHeaders?: z.ZodObject;
	/** Headers on successful answers besides the access level's headers, for the documentation. */
	readonly answerHeaders?: z.ZodObject;
	/** Content types by status, except JSON, for the documentation. */
	readonly answerTypes?: Readonly<Record<number, string>>;
	/** Set for a GET with side effects. HEAD, which clients use to look only, then returns 405. */
	readonly withoutHead?: true;
	/** Set if ordinary requests take the lean path: a POST without parameters and with a small body. */
	readonly lean?: true;
	/** Set if answers hold secrets. Disables caching. */
	readonly secret?: true;
	/** Set if bodies may exceed the server limit. */
	readonly largeBody?: LargeBody;
	readonly returns: R;
	/** Set for endpoints kept for older clients. Every answer carries the notice. */
	readonly deprecated?: Deprecation;
	/** Specific failures by status, besides the shared 401, 403 and 422. */
	readonly failures?: Readonly<Record<number, string>>;
	readonly handle: (
		request: Request<z.output<P>, z.output<Q>, z.output<B>>,
		context: Context,
	) => Promise<Reply<R> | Raw> | Reply<R> | Raw;
}

/** Endpoint without its specific types, for tables and `mount`. */
export interface Endpoint<Access extends string = string, Context = never>
	extends Omit<Declaration<Access, Context, z.ZodType, z.ZodType, z.ZodType, Returns>, 'handle'> {
	readonly handle: (
		request: Request<unknown, unknown, unknown>,
		context: Context,
	) => Promise<Reply<Returns> | Raw> | Reply<Returns> | Raw;
}

/**
 * Returns the `endpoint` function for a server. `Contexts` maps each access name to the context for handlers, so a
 * handler cannot be declared with less access than its context requires.
 */
export function declaring<Contexts>() {
	return function endpoint<
		Access extends keyof Contexts & string,
		R extends Returns,
		P extends z.ZodType = z.ZodType<Readonly<Record<string, string>>>,
		Q extends z.ZodType = z.ZodType<Readonly<Record<string, unknown>>>,
		B extends z.ZodType = z.ZodType<undefined>,
	>(declaration: Declaration<Access, Contexts[Access], P, Q, B, R>): Endpoint<Access, Contexts[Access]> {
		// The cast drops the handler types. `mount` calls the handler only with the output of these schemas.
		return declaration as unknown as Endpoint<Access, Contexts[Access]>;
	};
}
