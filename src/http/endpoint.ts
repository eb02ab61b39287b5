import type { Readable } from 'node:stream';
import type { z } from 'zod';

/** The declaration of one endpoint: validation, types, access, statuses and documentation in one value. */

/** HTTP methods endpoints are declared for. */
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Statuses an endpoint may answer on success, each with the schema of its body; `null` is an empty body. */
export type Returns = Readonly<Record<number, z.ZodType | null>>;

type ReplyHeaders = Readonly<Record<string, string>>;

/** A handler's answer: one of the declared statuses with its body, before the body's schema filters it. */
export type Reply<R extends Returns> = {
	[S in keyof R]: R[S] extends z.ZodType
		? { readonly status: S; readonly body: z.input<R[S]>; readonly headers?: ReplyHeaders }
		: { readonly status: S; readonly headers?: ReplyHeaders };
}[keyof R];

/** An answer without a body. */
export function reply<S extends number>(status: S): { readonly status: S };
/** An answer with a body; its status keeps its literal type, by which the declaration finds the body's schema. */
export function reply<S extends number, B>(
	status: S,
	body: B,
	headers?: ReplyHeaders,
): { readonly status: S; readonly body: B; readonly headers?: ReplyHeaders };
export function reply(status: number, body?: unknown, headers?: ReplyHeaders): object {
	return { status, ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
}

/**
 * Bytes that are sent as they are, for answers that are not JSON (bundles, pages) or are too long to be made without a
 * pause: then `bytes` are the chunks. No declared schema filters them.
 */
export class Raw {
	constructor(
		readonly status: number,
		readonly headers: ReplyHeaders,
		readonly bytes: Uint8Array | string | readonly string[],
	) {}
}

/** A request after validation. Header names are lower case. `closed` aborts when the client goes away. */
export interface Request<P, Q, B> {
	readonly params: P;
	readonly query: Q;
	readonly body: B;
	readonly headers: Readonly<Record<string, string | undefined>>;
	/** The value of the cookie of this name; undefined without one. */
	readonly cookie: (name: string) => string | undefined;
	readonly closed: AbortSignal;
	/** The path and the query as they were sent. */
	readonly target: string;
	/** The body as it was sent, for endpoints that declare none and pass it on. */
	readonly stream: () => Readable;
	/** The request's id, shown in the answer's `x-request-id` header and in error bodies. */
	readonly id: string;
}

/** Says that an endpoint should not be used any more. */
export interface Deprecation {
	/** Since when, as ISO 8601. */
	readonly since: string;
	/** The path to use instead, with parameters of the deprecated one. */
	readonly successor: string;
}

/** The limits of a body that may be larger than others. */
export interface LargeBody {
	/** The most bytes. */
	readonly bytes: number;
	/** The level of the body whose objects are maps of any number of members; the body itself is level 1. */
	readonly mapLevel: number;
}

/** The declaration of an endpoint: the router, the validation, the types and OpenAPI all read it. */
export interface Declaration<
	Access extends string,
	Context,
	P extends z.ZodType,
	Q extends z.ZodType,
	B extends z.ZodType,
	R extends Returns,
> {
	/** Stable camelCase name, unique in a table; the `operationId` of OpenAPI. */
	readonly name: string;
	readonly summary: string;
	readonly description?: string;
	readonly tag: string;
	readonly method: Method;
	/** `/v2/schema/:proj_id/:env_id/roles`. */
	readonly path: string;
	/** Who may call it. The room that mounts the table defines what the name means. */
	readonly access: Access;
	readonly params?: P;
	readonly query?: Q;
	readonly body?: B;
	/** A body that passes `body`, for the documentation. */
	readonly example?: unknown;
	/** The request headers that handlers read, for the documentation. */
	readonly requestHeaders?: z.ZodObject;
	/** The headers of successful answers, besides those of the access level, for the documentation. */
	readonly answerHeaders?: z.ZodObject;
	/** The content type of answers that are not JSON, by status, for the documentation. */
	readonly answerTypes?: Readonly<Record<number, string>>;
	/** Set for a GET that changes something: programs that only look ask by HEAD, which is then 405. */
	readonly withoutHead?: true;
	/** Set where ordinary requests take the lean path: a POST without parameters, whose body is small. */
	readonly lean?: true;
	/** Set where answers hold secrets, so that nothing keeps them. */
	readonly secret?: true;
	/** Set where bodies may exceed the server's limit. */
	readonly largeBody?: LargeBody;
	readonly returns: R;
	/** Set for endpoints that are only kept for older clients: every answer says so. */
	readonly deprecated?: Deprecation;
	/** Deliberate failures beyond those every endpoint shares (401, 403, 422), by status. */
	readonly failures?: Readonly<Record<number, string>>;
	readonly handle: (
		request: Request<z.output<P>, z.output<Q>, z.output<B>>,
		context: Context,
	) => Promise<Reply<R> | Raw> | Reply<R> | Raw;
}

/** An endpoint whose own types are no longer needed: what tables hold and `mount` serves. */
export interface Endpoint<Access extends string = string, Context = never>
	extends Omit<Declaration<Access, Context, z.ZodType, z.ZodType, z.ZodType, Returns>, 'handle'> {
	readonly handle: (
		request: Request<unknown, unknown, unknown>,
		context: Context,
	) => Promise<Reply<Returns> | Raw> | Reply<Returns> | Raw;
}

/**
 * Makes the declaring function of one room. `Contexts` maps each access name to the context that handlers with that
 * access get, so a handler cannot be declared with less access than its context requires.
 */
export function declaring<Contexts>() {
	return function endpoint<
		Access extends keyof Contexts & string,
		R extends Returns,
		P extends z.ZodType = z.ZodType<Readonly<Record<string, string>>>,
		Q extends z.ZodType = z.ZodType<Readonly<Record<string, unknown>>>,
		B extends z.ZodType = z.ZodType<undefined>,
	>(declaration: Declaration<Access, Contexts[Access], P, Q, B, R>): Endpoint<Access, Contexts[Access]> {
		// The cast forgets the handler's own types: `mount` only calls it with what these very schemas returned.
		return declaration as unknown as Endpoint<Access, Contexts[Access]>;
	};
}
