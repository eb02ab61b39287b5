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

const access: Readonly<Record<Access | 'feed', AccessNote>> = {
	public: { description: 'No authentication.', secured: false },
	probe: { description: 'No authentication.', secured: false },
	metrics: {
		description: 'Requires an organization key, unless `API_ALLOW_METRICS_UNAUTHENTICATED` is set.',
		secured: true,
	},
	key: { description: 'Requires any API key, even one without access.', secured: true },
	'organization.read': {
		description: 'Requires any API key. Returns only objects in the scope of the key.',
		secured: true,
	},
	'organization.write': { description: 'Requires an organization key with write access.', secured: true },
	'keys.manage': {
		description: 'Requires an API key with the access level `admin`. Covers only keys in its scope.',
		secured: true,
	},
	'keys.read': {
		description: 'Requires an API key with the access level `admin`. Covers only keys in its scope.',
		secured: true,
	},
	'project.read': {
		description: 'Requires an API key with access to the project or to one of its environments.',
		secured: true,
	},
	'project.write': { description: 'Requires a project key or organization key with write access.', secured: true },
	'project.delete': { description: 'Requires a project key or organization key with write access.', secured: true },
	'environment.read': { description: 'Requires an API key with access to the environment.', secured: true },
	'environment.copy': {
		description: 'Requires a project key or organization key with write access.',
		secured: true,
	},
	'environment.snapshot': { description: 'Requires an API key with access to the environment.', secured: true },
	'environment.export': { description: 'Requires an API key with access to the environment.', secured: true },
	'environment.write': {
		description: 'Requires an API key with write access to the environment.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.apply': {
		description: 'Requires an API key with write access to the environment.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.try': {
		description: 'Requires an API key with access to the environment; read-only access is enough.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.impact': {
		description: 'Requires an API key with access to the environment; read-only access is enough.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.manage': { description: 'Requires an API key with write access to the environment.', secured: true },
	'environment.own': {
		description: 'Requires an environment key, which selects the environment.',
		secured: true,
	},
	'environment.report': {
		description:
			'Requires an environment key, which selects the environment. The key must have write access or belong to a ' +
			'decision point (`owner_type` `pdp_config`).',
		secured: true,
	},
	'environment.sign_in': {
		description: 'Requires an environment key with write access, which selects the environment.',
		secured: true,
	},
	'environment.sessions': {
		description: 'Requires an API key with access to the environment and the access level `admin`.',
		secured: true,
	},
	'element.enter': { description: 'No authentication.', secured: false },
	'element.session': { description: signedIn, secured: true },
	'element.read': { description: signedIn, secured: true },
	'element.write': {
		description: `${signedIn} Requests with the cookie must come from an origin listed in the environment settings.`,
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'console.enter': { description: 'No authentication.', secured: false },
	'console.ask': { description: 'Requires a console session.', secured: false },
	'console.watch': { description: 'Requires a console session.', secured: false },
	feed: {
		description: 'Requires an API key with access to the environment.',
		secured: true,
		requestHeaders: BundleRequest,
		answerHeaders: BundleAnswer,
	},
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
	'Condition sets': 'User sets and resource sets, defined by conditions.',
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
