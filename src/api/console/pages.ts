import { methods, Raw } from '../../http/endpoint.js';
import { openFrontEnd, type PageFiles } from '../../http/front-end.js';
import { endpoint } from '../access.js';

const frontEnd = openFrontEnd();

/** Page paths. The script in the page reads the rest of the URL. */
const paths = ['/console', '/console/', '/console/:proj_id/:env_id{/*rest}', '/console/:proj_id/:env_id/'];

/** The console page (docs/policy/console.md). It is for browsers, so the OpenAPI document omits it. */
export const consolePages = paths.map((path) =>
	endpoint({
		...methods({ tag: 'Console', path }).get,
		name: 'getConsolePage',
		summary: 'Get the console page',
		access: 'public',
		returns: { 200: null },
		handle: async () => consolePage(await frontEnd.page('console')),
	}),
);

const policy = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self' data:",
	"connect-src 'self'",
	"font-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join('; ');

const headers = {
	'content-type': 'text/html; charset=utf-8',
	'content-security-policy': policy,
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cache-control': 'no-cache',
	'cross-origin-opener-policy': 'same-origin',
};

/** Renders the page. The page is the same for every request and contains nothing from the URL. */
function consolePage({ script, style }: PageFiles): Raw {
	const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Regolith</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/${style}">
<script type="module" src="/assets/${script}"></script>
</head>
<body><div id="app"></div><noscript>This page needs JavaScript.</noscript></body>
</html>
`;
	return new Raw(200, headers, html);
}
