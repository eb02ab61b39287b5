import type { Middleware } from 'koa';
import type { Request } from './endpoint.js';

/** Request data before routing. */
export interface CrossOriginRequest extends Pick<Request<unknown, unknown, unknown>, 'headers' | 'cookie'> {
	readonly path: string;
	/** Origin of the calling page. */
	readonly origin: string;
}

/** Rules for calls with credentials from pages with a different origin (CORS). */
export interface CrossOrigin {
	/** True if responses on this path depend on the page's origin. */
	concerns(path: string): boolean;
	/** True if a page with this origin may send the request. */
	allows(request: CrossOriginRequest): Promise<boolean>;
}

/** Maximum cache time of a preflight in a browser, in seconds. */
const preflightSeconds = 600;

/** Adds CORS headers to all responses, including failures, and handles preflight requests. Never sends `*`. */
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
		// Without these headers, the browser rejects the request.
		if (preflight) ctx.status = 204;
		else await next();
	};
}
