import { catalogue, Failure, type FailureCode } from '../failure.js';
import { documentationEndpoints } from '../http/documentation.js';
import type { Endpoint } from '../http/endpoint.js';
import type { AccessNote, DocumentInfo } from '../http/openapi.js';
import { ErrorBody, ValidationErrorBody } from '../wire/error.js';
import { BundleAnswer, BundleRequest, DeprecatedAnswer, EveryAnswer, RevisionAnswer } from '../wire/headers.js';
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
	'environment.export': { description: 'Needs an API key that opens the environment.', secured: true },
	'environment.write': {
		description: 'Needs an API key that opens the environment and may write.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.apply': {
		description: 'Needs an API key that opens the environment and may write.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.try': {
		description: 'Needs an API key that opens the environment; one that may only read is enough.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.impact': {
		description: 'Needs an API key that opens the environment; one that may only read is enough.',
		secured: true,
		answerHeaders: RevisionAnswer,
	},
	'environment.manage': { description: 'Needs an API key that opens the environment and may write.', secured: true },
	'environment.own': {
		description: 'Needs an API key of an environment, and is about that environment.',
		secured: true,
	},
	'environment.report': {
		description:
			'Needs an API key of an environment, and is about that environment. The key may write, or is of a decision point ' +
			'(`owner_type` `pdp_config`).',
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
		answerHeaders: RevisionAnswer,
	},
	'console.enter': { description: 'Anyone may call this.', secured: false },
	'console.ask': { description: 'Needs a session of the console.', secured: false },
	'console.watch': { description: 'Needs a session of the console.', secured: false },
	feed: {
		description: 'Needs an API key that opens the environment.',
		secured: true,
		requestHeaders: BundleRequest,
		answerHeaders: BundleAnswer,
	},
};

const tags = {
	General: 'Whether the API answers.',
	'API keys': 'The keys that callers show: of the organization, of a project or of one environment.',
	Console: 'Signing in to the console.',
	Organizations: 'The organization, of which an install has one.',
	Projects: 'Projects, which hold environments.',
	Environments: 'Environments, each with a schema, facts, keys and decision points of its own; documents and copies.',
	Drafts: 'Changes of an environment that are looked at before they are made, all together or not at all.',
	Impact: 'Who gains and who loses by a draft, and why a check came out as it did at an earlier revision.',
	Graph: 'What is connected with what: in the schema, in the facts, and how one leads to another.',
	Policy: 'What the compiler made of an environment.',
	Policies: 'The policies that an environment had, by revision.',
	Resources: 'Types of what is protected, with actions, attributes, relations and roles.',
	'Resource actions': 'What can be done with a resource.',
	'Resource action groups': 'Groups of actions of a resource, for people.',
	'Resource attributes': 'Attributes of resources, for conditions to compare.',
	'Resource relations': 'Relations between instances of two resources.',
	'Resource roles': 'Roles that are held on instances of a resource.',
	'Implicit grants': 'Roles that follow from roles on related instances.',
	Roles: 'Roles that are held in tenants.',
	'User attributes': 'Attributes of users, for conditions to compare.',
	'Condition sets': 'Sets of users and of resources, selected by conditions.',
	'Condition set rules': 'Which user set may do what on which resource set.',
	Users: 'Users, whom checks are about.',
	'Effective roles': 'Which roles users hold, and why.',
	Tenants: 'Tenants, in which roles are held and instances are.',
	'Role assignments': 'Who holds which role where.',
	'Resource instances': 'Single things of a resource, each in one tenant.',
	'Relationship tuples': 'Relationships between instances.',
	Groups: 'Groups of users that hold roles on instances.',
	'User invites': 'Future users with the role that they will have.',
	'Proxy configs': 'Which action on which resource requests to URLs stand for.',
	'Decision points': 'PDP configs, and what decision points say of themselves.',
	'Decision log': 'Decisions, as decision points logged them.',
	Bundles: 'Policy and data, for decision points and a stock OPA.',
	Elements: 'Signing users in to elements.',
	'Elements configs': 'Elements: pages on which users manage users, ask for access and review.',
	'User management': 'Users who manage users, in an element.',
	'Access requests': 'Users who ask for a role, and who review that.',
	'Operation approvals': 'Users who ask to do something, and who review that.',
	'Element requests': 'Access requests and operation approvals as administrators see and decide them.',
	Webhooks: 'What is sent to the webhooks of elements.',
	Documentation: 'This document.',
} as const;

/** Example values, keyed by member or parameter name, for requests without their own example. */
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
			'The management API of Regolith: who may do what. Checks are answered by decision points, not here. ' +
			'Every write answers with the environment’s new revision in `X-Revision`.',
		tags,
		headers: { every: EveryAnswer, deprecated: DeprecatedAnswer },
		access,
		key: 'An API key of an organization, a project or an environment.',
		failureBody: ErrorBody,
		validationBody: ValidationErrorBody,
		samples,
		failureExample,
	};
	return documentationEndpoints(table, place, info, () => {
		const address = decisionPoint();
		return address === null ? null : { description: 'The reference of the decision point', url: `${address}/docs` };
	});
}

function failureExample(status: number, message: string): unknown {
	const codes = Object.keys(catalogue) as FailureCode[];
	// Status 431 is sent before the request is complete, so its code is the code for malformed requests.
	const code = codes.find((name) => catalogue[name].status === (status === 431 ? 400 : status)) ?? 'unexpected';
	const problems = [{ loc: ['body', 'key'], msg: 'field required', type: 'missing' }];
	return renderFailure(new Failure(code, message, null, problems), '6ba0ec09-7b7e-4d0e-9c0a-2f0d2ac5f6c1');
}
