import { z } from 'zod';
import { declaring, type Endpoint, reply } from './endpoint.js';
import { type DocumentInfo, openapi } from './openapi.js';
import { type PagePlace, pageEndpoints } from './page.js';

/**
 * The OpenAPI document of a table of endpoints, and the page that shows it, as endpoints of the same table. The document
 * is put together when it is first asked for; it describes itself, but not the page.
 */
export function documentation<Access extends string>(
	table: readonly Endpoint<string, never>[],
	place: PagePlace<Access>,
	info: DocumentInfo,
): readonly Endpoint<string, never>[] {
	let document: Record<string, unknown> | undefined;
	const own = declaring<Record<Access, never>>()({
		name: 'getOpenApiDocument',
		summary: 'This API in OpenAPI 3.1',
		tag: 'Documentation',
		method: 'get',
		path: place.documentPath,
		access: place.access,
		returns: { 200: z.record(z.string(), z.unknown()) },
		handle: () => {
			document ??= openapi([...table, own], info);
			return reply(200, document);
		},
	});
	return [own, ...pageEndpoints(place)];
}
