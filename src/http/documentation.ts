import { z } from 'zod';
import { nextTurn } from '../limit/next-turn.js';
import { declaring, type Endpoint, methods, Raw } from './endpoint.js';
import { type DocumentInfo, openapiSteps, type RelatedReference } from './openapi.js';
import { type PagePlace, pageEndpoints } from './page.js';

/**
 * Returns the endpoints that serve a table's OpenAPI document and reference page. The caller adds them to the table.
 * The document is built on the first request, and again when the related reference changes. It describes its own
 * endpoint, but not the page. `findRelated` returns a second reference page to link to; `null` until its address is
 * known.
 */
export function documentationEndpoints<Access extends string>(
	table: readonly Endpoint<string, never>[],
	place: PagePlace<Access>,
	info: DocumentInfo,
	findRelated: () => RelatedReference | null = () => null,
): readonly Endpoint<string, never>[] {
	let built: { readonly document: Promise<Buffer>; readonly link: string | undefined } | undefined;
	const build = async (related: RelatedReference | null): Promise<Buffer> => {
		const steps = openapiSteps([...table, own], { ...info, related });
		let step = steps.next();
		for (; !step.done; step = steps.next()) await nextTurn();
		return Buffer.from(JSON.stringify(step.value));
	};
	const own: Endpoint<string, never> = declaring<Record<Access, never>>()({
		...methods({ tag: 'Documentation', path: place.documentPath }).get,
		name: 'getOpenApiDocument',
		summary: 'Get the OpenAPI 3.1 document',
		access: place.access,
		returns: { 200: z.record(z.string(), z.unknown()).describe('An OpenAPI document.') },
		handle: async () => {
			const related = findRelated();
			// Anyone may request the document, and building it is slow. Concurrent requests therefore share a build,
			// and the build yields to other requests.
			if (built?.link !== related?.url || built === undefined) built = { document: build(related), link: related?.url };
			return new Raw(200, { 'content-type': 'application/json' }, await built.document);
		},
	});
	return [own, ...pageEndpoints(place)];
}
