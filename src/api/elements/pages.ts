import { z } from 'zod';
import { methods, Raw, type Request } from '../../http/endpoint.js';
import { openFrontEnd, type PageFiles } from '../../http/front-end.js';
import type { UnmatchedRequest } from '../../http/server.js';
import type { ElementEntrance } from '../../store/session/element-entrance.js';
import type { Environment } from '../../store/table/account.js';
import { Key } from '../../wire/common.js';
import { elementSettings } from '../../wire/general/environment.js';
import { endpoint } from '../access.js';
import { sessionCookie } from './session-cookie.js';

const tag = 'Elements';
const frontEnd = openFrontEnd();
const assets = '/assets';

type Asked = Pick<Request<unknown, unknown, unknown>, 'query' | 'cookie'>;

/**
 * The element pages, their assets, and the script for embedding pages (docs/develop/elements.md: Pages). They are for
 * browsers, so the OpenAPI document omits them.
 */
export const elementPages = [
	endpoint({
		...methods({ tag, path: '/elements/:element_key', params: z.object({ element_key: z.string() }) }).get,
		name: 'getElementPage',
		summary: 'Get an element page',
		access: 'element.enter',
		returns: { 200: null },
		handle: async (request, { entrance }) => {
			// The page itself reports a wrong URL, so the developer who embeds it sees the problem.
			return elementPage(await frontEnd.page('element'), await findPageEnvironment(request, entrance));
		},
	}),
	endpoint({
		...methods({ tag, path: `${assets}/:asset`, params: z.object({ asset: z.string() }) }).get,
		name: 'getFrontEndAsset',
		summary: 'Get a page asset',
		access: 'public',
		returns: { 200: null },
		failures: { 404: 'No such asset' },
		handle: ({ params, headers }) => frontEnd.asset(params.asset, headers['accept-encoding']),
	}),
	endpoint({
		...methods({ tag, path: '/elements.js' }).get,
		name: 'getElementsScript',
		summary: 'Get the script that signs users in to embedded elements',
		access: 'public',
		returns: { 200: null },
		handle: ({ headers }) => frontEnd.script('elements.js', headers['accept-encoding']),
	}),
];

/**
 * Returns the page path for the short path `/{element key}`. Returns `null` if neither the query nor a session
 * identifies an environment. Called only for requests without a matching endpoint, so the short path never hides an API
 * path.
 */
export function elementPageAlias({ path, query, cookie }: UnmatchedRequest): string | null {
	const key = path.slice(1);
	if (!Key.safeParse(key).success) return null;
	return query['envId'] !== undefined || cookie(sessionCookie) !== undefined ? `/elements/${key}` : null;
}

/** Finds the environment in the URL, or else the session's environment; `null` if neither exists. */
async function findPageEnvironment({ query, cookie }: Asked, entrance: ElementEntrance): Promise<Environment | null> {
	const { envId } = query as { readonly envId?: unknown };
	if (envId !== undefined) return typeof envId === 'string' ? entrance.findEnvironment(envId) : null;
	const secret = cookie(sessionCookie);
	return secret === undefined ? null : ((await entrance.find('cookie', secret))?.environment ?? null);
}

/**
 * Renders the page. Only pages from the environment's origins may embed it. If the environment has no origins, no page
 * may embed it. The page gets the origins because it accepts bearer tokens only from them.
 */
function elementPage({ script, style }: PageFiles, environment: Environment | null): Raw {
	const { origins } = elementSettings(environment?.settings ?? null);
	const policy = [
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		'img-src data:',
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		`frame-ancestors ${origins.length > 0 ? origins.join(' ') : "'none'"}`,
	];
	const headers = {
		'content-type': 'text/html; charset=utf-8',
		'content-security-policy': policy.join('; '),
		'x-content-type-options': 'nosniff',
		'referrer-policy': 'no-referrer',
		'cache-control': 'no-cache',
		vary: 'cookie',
	};
	// Origins and ids contain no characters to escape.
	const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="regolith-environment" content="${environment?.id ?? ''}">
<meta name="regolith-origins" content="${origins.join(' ')}">
<title>Access</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/${style}">
<script type="module" src="${assets}/${script}"></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`;
	return new Raw(200, headers, html);
}
