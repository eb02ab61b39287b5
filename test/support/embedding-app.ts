import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { root } from './root.js';

/** Both results from the SDK's `elements.loginAs`. */
export interface SignedIn {
	readonly redirect_url: string;
	readonly element_bearer_token: string;
}

/**
 * An embedding application on a different site than the API. Its page `/` loads the front-end package as `permit`, and
 * the script and the frame with the URLs in the query parameters `script` and `frame`. The application's backend signs
 * users in at `/login/<user>` through the SDK, as the front-end package expects. A POST to `/login/<user>?redirect`
 * returns the URL with the ticket, but only with the application's session. `/plain-cookie` sets an unpartitioned
 * cookie.
 */
export interface EmbeddingApp {
	readonly origin: string;
	/** Request paths and `Referer` headers received by the application. */
	readonly heard: readonly string[];
	close(): Promise<void>;
}

/** Session value sent from application pages to their backend, as `X-Session` or as a bearer token. */
export const appSession = 'session-of-the-application';

/** Starts an embedding application on a free port. `localhost` and `127.0.0.1` are different sites. */
export async function startEmbeddingApp(
	loginAs: (user: string, tenant: string) => Promise<SignedIn>,
	host: 'localhost' | '127.0.0.1' = 'localhost',
): Promise<EmbeddingApp> {
	const bundle = await bundlePackage();
	const heard: string[] = [];
	const server = createServer((request, response) => {
		heard.push(request.headers.referer ?? '', request.url ?? '');
		answer(request, response, bundle, loginAs).catch((error: unknown) => {
			response.writeHead(500).end(String(error));
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		origin: `http://${host}:${(server.address() as AddressInfo).port}`,
		heard,
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}

async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	bundle: string,
	loginAs: (user: string, tenant: string) => Promise<SignedIn>,
): Promise<void> {
	const url = new URL(request.url ?? '/', 'http://localhost');
	const user = /^\/login\/(\w+)$/.exec(url.pathname)?.[1];
	if (url.pathname === '/package.js') {
		response.writeHead(200, { 'content-type': 'text/javascript' }).end(bundle);
	} else if (url.pathname === '/plain-cookie') {
		response.writeHead(200, { 'set-cookie': 'plain=1; SameSite=None; Secure; Path=/' }).end();
	} else if (user === undefined) {
		response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(url.searchParams));
	} else if (request.method === 'POST' && url.searchParams.has('redirect')) {
		const { authorization, 'x-session': session } = request.headers;
		const known = authorization === `Bearer ${appSession}` || session === appSession;
		const redirect = known ? (await loginAs(user, 'acme')).redirect_url : null;
		response
			.writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
			.end(JSON.stringify({ url: redirect }));
	} else if (request.method === 'POST') {
		const { element_bearer_token } = await loginAs(user, 'acme');
		response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ url: element_bearer_token }));
	} else {
		const { redirect_url } = await loginAs(user, url.searchParams.get('tenant') ?? '');
		response.writeHead(302, { location: redirect_url }).end();
	}
}

function page(query: URLSearchParams): string {
	const frame = query.get('frame');
	const script = query.get('script');
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>An application</title>
<script src="/package.js"></script>
${script === null ? '' : `<script src="${attribute(script)}"></script>`}</head>
<body><h1>An application</h1>
${frame === null ? '' : `<iframe title="Access" width="700" height="640" src="${attribute(frame)}"></iframe>`}
</body></html>`;
}

function attribute(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

/** Returns the published front-end package, bundled as the global `permit`. */
async function bundlePackage(): Promise<string> {
	const { outputFiles } = await build({
		stdin: {
			contents: `import permit, { LoginMethod } from '@permitio/permit-js'; Object.assign(window, { permit, LoginMethod });`,
			resolveDir: root,
		},
		bundle: true,
		format: 'iife',
		platform: 'browser',
		write: false,
		logLevel: 'silent',
	});
	return outputFiles[0]?.text ?? '';
}
