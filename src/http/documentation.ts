import { z } from 'zod';
import { declaring, type Endpoint, Raw } from './endpoint.js';
import { type DocumentInfo, openapi } from './openapi.js';
import { type PagePlace, pageEndpoints } from './page.js';

/**
 * The OpenAPI document of a table of endpoints, and the page that shows it, as endpoints of the same table. The
 * document is built when it is first asked for. It describes itself, but not the page.
 */
export function documentationEndpoints<Access extends string>(
	table: readonly Endpoint<string, never>[],
	place: PagePlace<Access>,
	info: DocumentInfo,
): readonly Endpoint<string, never>[] {
	let document: Buffer | undefined;
	const own: Endpoint<string, never> = declaring<Record<Access, never>>()({
		name: 'getOpenApiDocument',
		summary: 'This API in OpenAPI 3.1',
		tag: 'Documentation',
		method: 'get',
		path: place.documentPath,
		access: place.access,
		returns: { 200: z.record(z.string(), z.unknown()) },
		handle: () => {
			// Anyone may ask for it, and building it takes milliseconds, so it is built once.
			document ??= Buffer.from(JSON.stringify(openapi([...table, own], info)));
			return new Raw(200, { 'content-type': 'application/json' }, document);
		},
	});
	return [own, ...pageEndpoints(place)];
}
