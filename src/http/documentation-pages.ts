import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { notFound } from '../failure.js';
import { declaring, type Endpoint, Raw } from './endpoint.js';
import { findBuiltFolder } from './front-end.js';

const path = '/documentation';

const Files = z.object({ pages: z.array(z.string()), images: z.array(z.string()) });

/** Pages contain no scripts, and load only the style sheet and images. */
const headers = {
	'content-security-policy': [
		"default-src 'none'",
		"style-src 'self'",
		"img-src 'self' data:",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join('; '),
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cache-control': 'public, max-age=3600',
};

/**
 * Returns the endpoint for the documentation, rendered by setup (setup/documentation.mjs). It is for browsers, so the
 * OpenAPI document omits it.
 */
export function documentationPages<Access extends string>(
	access: Access,
	folder = join(findBuiltFolder(), '../documentation'),
): Endpoint<Access> {
	const types = readTypes(folder);
	return declaring<Record<Access, never>>()({
		name: 'getDocumentationPage',
		summary: 'Get a documentation page',
		tag: 'Documentation',
		method: 'get',
		path: `${path}{/*page}`,
		access,
		params: z.object({ page: z.string().optional() }),
		returns: { 200: null },
		failures: { 404: 'No such page' },
		handle: async ({ params: { page = '' } }) => {
			const file = (await types()).get(page);
			if (file === undefined) throw notFound('Page', page);
			return new Raw(200, { ...headers, 'content-type': file.type }, await readFile(join(folder, file.name)));
		},
	});
}

/** Returns a function that returns each page's file and media type, keyed by path. It reads the list of files once. */
function readTypes(folder: string) {
	let reading: Promise<ReadonlyMap<string, { readonly name: string; readonly type: string }>> | undefined;
	const read = async () => {
		const { pages, images } = Files.parse(JSON.parse(await readFile(join(folder, 'pages.json'), 'utf8')));
		return new Map([
			['style.css', { name: 'style.css', type: 'text/css; charset=utf-8' }],
			...pages.map((page) => [page, { name: `${page || 'index'}.html`, type: 'text/html; charset=utf-8' }] as const),
			...images.map((image) => [image, { name: image, type: 'image/png' }] as const),
		]);
	};
	return () => {
		reading ??= read();
		reading.catch(() => {
			reading = undefined;
		});
		return reading;
	};
}
