import { catalogue, Failure, type FailureCode } from '../failure.js';
import { documentationEndpoints } from '../http/documentation.js';
import type { Endpoint } from '../http/endpoint.js';
import type { AccessNote } from '../http/openapi.js';
import { ErrorBody, ValidationErrorBody } from '../wire/error.js';
import type { Access } from './access.js';
import { renderFailure } from './render-failure.js';

const signedIn =
	'Needs somebody who is signed in: the cookie `permit_session`, or the bearer token of a sign-in in `Authorization`.';

const access: Readonly<Record<Access | 'feed', AccessNote>> = {
	public: { description: 'Anyone may call this.', secured: false },
	probe: { description: 'Anyone may call this.', secured: false },
	metrics: {
		description: 'Needs an API key of an organization, unless `API_ALLOW_METRICS_UNAUTHENTICATED` is set.',
		secured: true,
	},
	key: { description: 'Needs any API key, also one without access.', secured: true },
	'organization.read': { description: 'Needs any API key; shows what it opens.', secured: true },
	'organization.write': { description: 'Needs an API key of the organization that may write.', secured: true },
	'keys.manage': {
		description: 'Needs an API key with the access level `admin`; reaches what the key opens.',
		secured: true,
	},
	'keys.read': {
		description: 'Needs an API key with the access level `admin`; reaches what the key opens.',
		secured: true,
	},
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
	'environment.own': {
		description: 'Needs an API key of an environment, and is about that environment.',
		secured: true,
	},
	'environment.sign_in': {
		description: 'Needs an API key of an environment that may write, and is about that environment.',
		secured: true,
	},
	'environment.sessions': {
		description: 'Needs an API key that opens the environment, with the access level `admin`.',
		secured: true,
	},
	'element.enter': { description: 'Anyone may call this.', secured: false },
	'element.session': { description: signedIn, secured: true },
	'element.read': { description: signedIn, secured: true },
	'element.write': {
		description: `${signedIn} With the cookie, the request comes from an origin that the environment names.`,
		secured: true,
	},
	feed: { description: 'Needs an API key that opens the environment.', secured: true },
};

/** Values in examples, by the name of the member or parameter, where the request has no example of its own. */
const samples = {
	proj_id: 'default',
	env_id: 'dev',
	org_id: 'acme',
	environment_id: '0192f0c1-2a5b-7cc3-8d4e-5f60718293a0',
	api_key_id: '0192f0c1-2a5b-7cc3-8d4e-5f60718293a1',
	resource_id: 'document',
	action_id: 'read',
	attribute_id: 'private',
	role_id: 'editor',
	condition_set_id: 'private_documents',
	user_id: 'alice@example.com',
	tenant_id: 'acme',
	resource_instance: 'document:budget',
	key: 'example',
	name: 'Example',
	type: 'string',
	email: 'alice@example.com',
	first_name: 'Alice',
	last_name: 'Doe',
	user: 'alice@example.com',
	role: 'editor',
	tenant: 'acme',
	resource: 'document',
	permissions: ['document:read'],
	permission_name: 'document:read',
	status: 'ok',
	search: 'a*',
	secret: 'permit_key_…',
	total_count: 1,
	page_count: 1,
	object_type: 'env',
	attributes: {},
	hash: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
	revision: 12,
	schema_revision: 9,
	conditions: { 'resource.private': { equals: true } },
	matches: true,
	checked: 1,
	ancestors: [],
	path: 'regolith/resources/document/permits.rego',
	files: [],
	session_id: '0192f0c1-2a5b-7cc3-8d4e-5f60718293a6',
	token: '0192f0c12a5b7cc38d4e5f60718293a0.R8v1…',
	redirect_url: 'https://api.example.com/v2/auth/login_elements?token=0192f0c1…',
	url: 'https://api.example.com/v2/auth/login_elements?token=0192f0c1…',
	element_bearer_token: 'Zm9v…',
	logged_in: true,
	expires_at: 1_790_000_000,
	timestamp_from: '1790000000',
	timestamp_to: '1790086400',
} as const;

/** The OpenAPI document of a table of endpoints and the page that shows it, as endpoints of the same table. */
export function documentation(
	table: readonly Endpoint<string, never>[],
	version: string,
): readonly Endpoint<string, never>[] {
	const place = { documentPath: '/openapi.json', pagePath: '/docs', access: 'public' } as const;
	return documentationEndpoints(table, place, {
		title: 'Regolith',
		version,
		description:
			'The management API of Regolith: who may do what. Checks are answered by decision points, not here. ' +
			'Every write answers with the environment’s new revision in `X-Revision`.',
		access,
		key: 'An API key of an organization, a project or an environment.',
		failureBody: ErrorBody,
		validationBody: ValidationErrorBody,
		samples,
		failureExample,
	});
}

function failureExample(status: number, message: string): unknown {
	const codes = Object.keys(catalogue) as FailureCode[];
	// 431 is answered before there is a complete request, so its code is that of any malformed request.
	const code = codes.find((name) => catalogue[name].status === (status === 431 ? 400 : status)) ?? 'unexpected';
	const problems = [{ loc: ['body', 'key'], msg: 'field required', type: 'missing' }];
	return renderFailure(new Failure(code, message, null, problems), '6ba0ec09-7b7e-4d0e-9c0a-2f0d2ac5f6c1');
}
