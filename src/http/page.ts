import { promises as files } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { notFound } from '../failure.js';
import { declaring, type Endpoint, methods, Raw } from './endpoint.js';
import { findBuiltFolder } from './front-end.js';
import { pageScript } from './page-script.js';

/** Source of an asset: a Swagger UI file (setup/console.mjs), or generated text. */
type Source = { readonly file: string } | { readonly text: string };

interface Asset {
	readonly type: string;
	readonly source: Source;
}

const javascript = 'text/javascript; charset=utf-8';

/** Returns all page assets, keyed by their name in the path. The page can load no other file. */
function pageAssets(documentPath: string) {
	return {
		'swagger-ui.css': { type: 'text/css; charset=utf-8', source: { file: 'swagger-ui.css' } },
		'swagger-ui-bundle.js': { type: javascript, source: { file: 'swagger-ui-bundle.js' } },
		'favicon-32x32.png': { type: 'image/png', source: { file: 'favicon-32x32.png' } },
		'start.js': { type: javascript, source: { text: pageScript(documentPath) } },
	} satisfies Record<string, Asset>;
}

function pageHtml(pagePath: string): string {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="stylesheet" href="${pagePath}/swagger-ui.css">
<link rel="icon" type="image/png" href="${pagePath}/favicon-32x32.png">
</head>
<body>
<noscript>This page needs JavaScript. The OpenAPI document itself is plain JSON.</noscript>
<div id="page"></div>
<script src="${pagePath}/swagger-ui-bundle.js"></script>
<script src="${pagePath}/start.js"></script>
</body>
</html>
`;
}

/**
 * These headers forbid other origins and inline code, and the page may call only its own server. Its icons are data
 * URLs.
 */
const headers = {
	'content-security-policy': [
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"img-src 'self' data:",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join('; '),
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cache-control': 'public, max-age=3600',
};

/** Path and access rule of the page. */
export interface PagePlace<Access extends string> {
	/** Path of the OpenAPI document on the same server. */
	readonly documentPath: string;
	/** Path of the page. Its assets are below it. */
	readonly pagePath: string;
	/** Access name that needs no key, because browsers send none. */
	readonly access: Access;
}

/** Returns the endpoints for the API page and its assets. The page works offline. Each file is read once. */
export function pageEndpoints<Access extends string>(place: PagePlace<Access>): readonly Endpoint<Access>[] {
	const { access, pagePath } = place;
	const endpoint = declaring<Record<Access, never>>();
	const html = pageHtml(pagePath);
	const asset = assetReader(pageAssets(place.documentPath));
	return [
		endpoint({
			...methods({ tag: 'Documentation', path: pagePath }).get,
			name: 'getApiPage',
			summary: 'Get the API reference page',
			access,
			returns: { 200: null },
			handle: () => new Raw(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }, html),
		}),
		endpoint({
			name: 'getApiPageAsset',
			summary: 'Get an asset of the API reference page',
			tag: 'Documentation',
			method: 'get',
			path: `${pagePath}/:asset`,
			access,
			params: z.object({ asset: z.string().describe('The file name.') }),
			returns: { 200: null },
			failures: { 404: 'No such asset' },
			handle: ({ params }) => asset(params.asset),
		}),
	];
}

/** Returns a function that serves assets by name. Each file is read on first use and cached. */
function assetReader(assets: Readonly<Record<string, Asset>>): (name: string) => Promise<Raw> {
	const byName = new Map(Object.entries(assets));
	const read = new Map<string, Promise<Uint8Array | string>>();
	return async function assetNamed(name) {
		const asset = byName.get(name);
		if (asset === undefined) throw notFound('Asset', name);
		const bytes = read.get(name) ?? readContent(asset.source);
		read.set(name, bytes);
		return new Raw(200, { ...headers, 'content-type': asset.type }, await bytes);
	};
}

async function readContent(source: Source): Promise<Uint8Array | string> {
	if ('text' in source) return source.text;
	return files.readFile(join(findBuiltFolder(), 'reference', source.file));
}
