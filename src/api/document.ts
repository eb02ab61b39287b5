import { catalogue, Failure, type FailureCode } from '../failure.js';
import { documentationEndpoints } from '../http/documentation.js';
import type { Endpoint } from '../http/endpoint.js';
import type { AccessNote, DocumentInfo } from '../http/openapi.js';
import { ErrorBody, ValidationErrorBody } from '../wire/error.js';
import { BundleAnswer, BundleRequest, DeprecatedAnswer, EveryAnswer, RevisionAnswer } from '../wire/headers.js';
import type { Access } from './access.js';
import { renderFailure } from './render-failure.js';

const signedIn =
	"Requires a signed-in user: the cookie `permit_session`, or a sign-in's bearer token in `Authorization`.";

const withRevision = { answerHeaders: RevisionAnswer };
const open = { description: 'No authentication.', secured: false };

/** Describes an access rule that requires a key or a sign-in. */
function secured(description: string, headers: Pick<AccessNote, 'requestHeaders' | 'answerHeaders'> = {}): AccessNote {
	return { description, secured: true, ...headers };
}

const access: Readonly<Record<Access | 'feed', AccessNote>> = {
	public: open,
	probe: open,
	metrics: secured('Requires an organization key, unless `API_ALLOW_METRICS_UNAUTHENTICATED` is set.'),
	key: secured('Requires any API key, even one without access.'),
	'organization.read': secured('Requires any API key. Returns only objects in the scope of the key.'),
	'organization.write': secured('Requires an organization key with write access.'),
	'keys.manage': secured('Requires an API key with the access level `admin`. Covers only keys in its scope.'),
	'keys.read': secured('Requires an API key with the access level `admin`. Covers only keys in its scope.'),
	'project.read': secured('Requires an API key with access to the project or to one of its environments.'),
	'project.write': secured('Requires a project key or organization key with write access.'),
	'project.delete': secured('Requires a project key or organization key with write access.'),
	'environment.read': secured('Requires an API key with access to the environment.'),
	'environment.copy': secured('Requires a project key or organization key with write access.'),
	'environment.snapshot': secured('Requires an API key with access to the environment.'),
	'environment.export': secured('Requires an API key with access to the environment.'),
	'environment.write': secured('Requires an API key with write access to the environment.', withRevision),
	'environment.apply': secured('Requires an API key with write access to the environment.', withRevision),
	'environment.try': secured(
		'Requires an API key with access to the environment; read-only access is enough.',
		withRevision,
	),
	'environment.impact': secured(
		'Requires an API key with access to the environment; read-only access is enough.',
		withRevision,
	),
	'environment.manage': secured('Requires an API key with write access to the environment.'),
	'environment.own': secured('Requires an environment key, which selects the environment.'),
	'environment.report': secured(
		'Requires an environment key, which selects the environment. The key must have write access or belong to a ' +
			'decision point (`owner_type` `pdp_config`).',
	),
	'environment.sign_in': secured('Requires an environment key with write access, which selects the environment.'),
	'environment.sessions': secured('Requires an API key with access to the environment and the access level `admin`.'),
	'element.enter': open,
	'element.session': secured(signedIn),
	'element.read': secured(signedIn),
	'element.write': secured(
		`${signedIn} Requests with the cookie must come from an origin listed in the environment settings.`,
		withRevision,
	),
	'console.enter': open,
	'console.ask': { description: 'Requires a console session.', secured: false },
	'console.watch': { description: 'Requires a console session.', secured: false },
	feed: secured('Requires an API key with access to the environment.', {
		requestHeaders: BundleRequest,
		answerHeaders: BundleAnswer,
	}),
};

const tags = {
	General: 'Health, version and metrics.',
	'API keys': 'API keys for the organization, a project or an environment.',
	Console: 'Console sign-in and sessions.',
	Organizations: 'The organization. An installation has exactly one.',
	Projects: 'Projects, which contain environments.',
	Environments: 'Environments, each with its own schema, facts, keys and decision points; exports, imports and copies.',
	Drafts: 'Sets of changes to an environment, previewed and then applied atomically.',
	Impact: 'Access gained and lost through a draft, and explanations of checks at earlier revisions.',
	Graph: 'Connections in the schema and in the facts, and the paths between objects.',
	Policy: 'The compiled policy of an environment.',
	Policies: 'Published policies of an environment, by revision.',
	Resources: 'Types of protected objects, with their actions, attributes, relations and roles.',
	'Resource actions': 'Actions that users can perform on a resource.',
	'Resource action groups': 'Named groups of resource actions, for display.',
	'Resource attributes': 'Resource attributes for use in conditions.',
	'Resource relations': 'Relations between the instances of two resources.',
	'Resource roles': 'Roles assigned on resource instances.',
	'Implicit grants': 'Roles derived from roles on related instances.',
	Roles: 'Roles assigned in tenants.',
	'User attributes': 'User attributes for use in conditions.',
	'Condition sets': 'User sets, resource sets and grant conditions.',
	'Condition set rules': 'Permissions of user sets on resource sets.',
	'Check tests': 'Checks with their expected results.',
	Users: 'Users, the subjects of checks.',
	'Effective roles': 'Roles that users hold, with their sources.',
	Tenants: 'Tenants, the scope of tenant roles and resource instances.',
	'Role assignments': 'Roles assigned to users in tenants and on resource instances.',
	'Resource instances': 'Individual objects of a resource type, each in one tenant.',
	'Relationship tuples': 'Relationships between resource instances.',
	Groups: 'User groups with roles on resource instances.',
	'User invites': 'Future users, each with a role to assign on approval.',
	'Proxy configs': 'Mapping rules from HTTP requests to resources and actions.',
	'Decision points': 'PDP configs, and the reported state of decision points.',
	'Decision log': 'Decisions logged by decision points.',
	Bundles: 'Policy and data bundles for decision points and a stock OPA.',
	Elements: 'User sign-in to elements.',
	'Elements configs': 'Elements: embedded pages for user management, access requests and reviews.',
	'User management': 'User management by users, in an element.',
	'Access requests': 'Requests for a role, and their reviews.',
	'Operation approvals': 'Requests to perform an operation, and their reviews.',
	'Element requests': 'Access requests and operation approvals, as seen by administrators.',
	Webhooks: 'Element webhooks and their deliveries.',
	Documentation: 'The OpenAPI document and its reference page.',
} as const;

/** Example values, keyed by field or parameter name, for requests without their own example. */
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
	from: 'user:alice@example.com',
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

/**
 * Returns the endpoints that serve the OpenAPI document for `table` and the page that shows it. `decisionPoint` returns
 * the decision point address to link to, without a trailing slash. It returns `null` until the address is known.
 */
export function documentation(
	table: readonly Endpoint<string, never>[],
	version: string,
	decisionPoint: () => string | null = () => null,
): readonly Endpoint<string, never>[] {
	const place = { documentPath: '/openapi.json', pagePath: '/docs', access: 'public' } as const;
	const info: DocumentInfo = {
		title: 'Regolith',
		version,
		description:
			'The management API of Regolith, for schema and facts. Decision points serve the checks. Every write returns ' +
			"the environment's new revision in `X-Revision`.",
		tags,
		headers: { every: EveryAnswer, deprecated: DeprecatedAnswer },
		access,
		key: 'An organization, project or environment API key.',
		failureBody: ErrorBody,
		validationBody: ValidationErrorBody,
		samples,
		failureExample,
	};
	return documentationEndpoints(table, place, info, () => {
		const address = decisionPoint();
		return address === null ? null : { description: 'Decision point API reference', url: `${address}/docs` };
	});
}

function failureExample(status: number, message: string): unknown {
	const codes = Object.keys(catalogue) as FailureCode[];
	// Status 431 is sent before the request is complete, so its code is the code for malformed requests.
	const code = codes.find((name) => catalogue[name].status === (status === 431 ? 400 : status)) ?? 'unexpected';
	const problems = [{ loc: ['body', 'key'], msg: 'field required', type: 'missing' }];
	return renderFailure(new Failure(code, message, null, problems), '6ba0ec09-7b7e-4d0e-9c0a-2f0d2ac5f6c1');
}
