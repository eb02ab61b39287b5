import type { Middleware } from 'koa';
import type { Request } from './endpoint.js';

/** What is known of a request before it is matched with an endpoint. */
export interface CrossOriginRequest extends Pick<Request<unknown, unknown, unknown>, 'headers' | 'cookie'> {
	readonly path: string;
	/** The origin of the page that asks. */
	readonly origin: string;
}

/** Which pages of other origins may call what with credentials, and read the answers (CORS). */
export interface CrossOrigin {
	/** Whether answers on this path depend on the origin at all. */
	concerns(path: string): boolean;
	/** Whether a page of this origin may send this request. */
	allows(request: CrossOriginRequest): Promise<boolean>;
}

/** How long a browser may remember what a preflight has allowed, in seconds. */
const preflightSeconds = 600;

/** Adds the headers of CORS to answers, those of failures included, and answers preflights. Never names `*`. */
export function answerCrossOrigin({ concerns, allows }: CrossOrigin): Middleware {
	return async function crossOrigin(ctx, next) {
		if (!concerns(ctx.path)) return next();
		ctx.vary('Origin');
		const origin = ctx.get('origin');
		const asked = ctx.get('access-control-request-method');
		const preflight = ctx.method === 'OPTIONS' && origin !== '' && asked !== '';
		const headers = ctx.headers as CrossOriginRequest['headers'];
		const cookie = (name: string) => ctx.cookies.get(name);
		if (origin !== '' && (await allows({ path: ctx.path, origin, headers, cookie }))) {
			ctx.set('access-control-allow-origin', origin);
			ctx.set('access-control-allow-credentials', 'true');
			ctx.set('access-control-expose-headers', 'x-request-id, x-revision, x-revision-token');
			if (preflight) {
				ctx.set('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE');
				ctx.set('access-control-allow-headers', 'authorization, content-type');
				ctx.set('access-control-max-age', String(preflightSeconds));
			}
		}
		// A preflight without these headers is refused by the browser.
		if (preflight) ctx.status = 204;
		else await next();
	};
}
