import { z } from 'zod';
import { type Endpoint, reply } from '../http/endpoint.js';
import { type AccessNote, openapi } from '../http/openapi.js';
import { pageEndpoints } from '../http/page.js';
import { ErrorBody, ValidationErrorBody } from '../wire/error.js';
import { type Access, endpoint } from './access.js';

const documentPath = '/openapi.json';

const access: Readonly<Record<Access | 'feed', AccessNote>> = {
	public: { description: 'Anyone may call this.', secured: false },
	key: { description: 'Needs any API key.', secured: true },
	'organization.read': { description: 'Needs any API key; shows what it opens.', secured: true },
	'organization.write': { description: 'Needs an API key of the organization that may write.', secured: true },
	'keys.manage': { description: 'Needs an API key of the access level `admin`; reaches what it opens.', secured: true },
	'keys.read': { description: 'Needs an API key of the access level `admin`; reaches what it opens.', secured: true },
	'project.read': { description: 'Needs an API key that opens the project, or an environment of it.', secured: true },
	'project.write': { description: 'Needs an API key of the project or organization that may write.', secured: true },
	'environment.read': { description: 'Needs an API key that opens the environment.', secured: true },
	'environment.copy': {
		description: 'Needs an API key of the project or organization that may write.',
		secured: true,
	},
	'environment.snapshot': { description: 'Needs an API key that opens the environment.', secured: true },
	'environment.write': { description: 'Needs an API key that opens the environment and may write.', secured: true },
	'environment.manage': { description: 'Needs an API key that opens the environment and may write.', secured: true },
	feed: { description: 'Needs an API key that opens the environment.', secured: true },
};

/** The OpenAPI document of a table of endpoints and the page that shows it, as endpoints of the same table. */
export function documentation(
	table: readonly Endpoint<string, never>[],
	version: string,
): readonly Endpoint<string, never>[] {
	let document: Record<string, unknown> | undefined;
	const own = endpoint({
		name: 'getOpenApiDocument',
		summary: 'This API in OpenAPI 3.1',
		tag: 'Documentation',
		method: 'get',
		path: documentPath,
		access: 'public',
		returns: { 200: z.record(z.string(), z.unknown()) },
		handle: () => {
			document ??= openapi([...table, own], {
				title: 'Regolith',
				version,
				description:
					'The management API of Regolith: who may do what. Checks are answered by decision points, not here. ' +
					'Every write answers with the environment’s new revision in `X-Revision`.',
				access,
				key: 'An API key of an organization, a project or an environment.',
				failureBody: ErrorBody,
				validationBody: ValidationErrorBody,
			});
			return reply(200, document);
		},
	});
	return [own, ...pageEndpoints<'public'>({ documentPath, pagePath: '/docs', access: 'public' })];
}
