import { z } from 'zod';
import { declaring, type Endpoint, Raw } from './endpoint.js';
import { type DocumentInfo, openapi, type RelatedReference } from './openapi.js';
import { type PagePlace, pageEndpoints } from './page.js';

/**
 * The OpenAPI document of a table of endpoints, and the page that shows it, as endpoints of the same table. The
 * document is built when it is first asked for. It describes itself, but not the page. `findRelated` gives the other
 * reference to link to, once its address is known.
 */
export function documentationEndpoints<Access extends string>(
	table: readonly Endpoint<string, never>[],
	place: PagePlace<Access>,
	info: DocumentInfo,
	findRelated: () => RelatedReference | null = () => null,
): readonly Endpoint<string, never>[] {
	let built: { readonly document: Buffer; readonly link: string | undefined } | undefined;
	const own: Endpoint<string, never> = declaring<Record<Access, never>>()({
		name: 'getOpenApiDocument',
		summary: 'This API in OpenAPI 3.1',
		tag: 'Documentation',
		method: 'get',
		path: place.documentPath,
		access: place.access,
		returns: { 200: z.record(z.string(), z.unknown()).describe('An OpenAPI document.') },
		handle: () => {
			const related = findRelated();
			// Anyone may ask for the document, and building it is slow. It is built again only when the link has changed.
			if (built === undefined || built.link !== related?.url) {
				const document = openapi([...table, own], { ...info, related });
				built = { document: Buffer.from(JSON.stringify(document)), link: related?.url };
			}
			return new Raw(200, { 'content-type': 'application/json' }, built.document);
		},
	});
	return [own, ...pageEndpoints(place)];
}
