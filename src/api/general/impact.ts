import type { Clock } from '../../clock.js';
import { methods, reply } from '../../http/endpoint.js';
import { applyDraft } from '../../transfer/draft.js';
import { AuthorizationResult } from '../../wire/decision/check.js';
import { ExplanationRequest, Impact, ImpactRequest, maxChangesSince, WrittenTest } from '../../wire/general/impact.js';
import { EnvironmentPath, endpoint, revisionHeader } from '../access.js';

const tag = 'Impact';
const environment = '/v2/projects/:proj_id/envs/:env_id';

const explanationExample = {
	user: 'ann@example.com',
	action: 'read',
	resource: { type: 'document', key: 'plan', tenant: 'acme' },
	revision: 12,
};

const explanationFailures = {
	404: 'No such environment, or no such revision yet',
	409: 'The environment has no policy yet, or changes too often',
	410: 'The revision is no longer stored, or its number now belongs to a different revision',
	429: 'Too many impact requests are queued for the environment',
	503: 'The time or memory limit was exceeded, or the process ended',
};

/** Access gained and lost through a draft. */
export const impact = [
	endpoint({
		...methods({ tag, path: `${environment}/impact`, params: EnvironmentPath }).post,
		name: 'findImpact',
		summary: 'Compare access before and after a draft',
		description:
			'Compares check results at the newest revision with and without the draft, for every user and action, on ' +
			'every resource in every tenant and on every instance. Evaluates only checks that the draft may affect, and ' +
			'changes nothing. Read-only access is enough. If `truncated`, counts are lower bounds. The newest logged ' +
			'decisions are also replayed. A separate process handles one request per environment at a time; a few more ' +
			'may wait.',
		access: 'environment.impact',
		body: ImpactRequest,
		example: {
			draft: {
				base_revision: 12,
				changes: [{ kind: 'role', operation: 'delete', key: 'viewer' }],
			},
			limits: { rows: 50 },
		},
		returns: { 200: Impact },
		failures: {
			400: 'An API rule is violated: a built-in object would change, or a limit would be exceeded',
			404: 'No such environment, an object to change or delete does not exist, or a value refers to a missing object',
			409:
				'An object in the draft has changed since `base_revision`, as listed in `additional_info.conflicts`; an ' +
				'object to create already exists; or the environment changes too often',
			429: 'Too many impact requests are queued for the environment',
			503: 'The time or memory limit was exceeded, or the process ended',
		},
		handle: async ({ body: { draft, limits }, closed }, { scope, caller, source }) => {
			const change = (unit: Parameters<typeof applyDraft>[0]) => applyDraft(unit, draft);
			const found = await source.find({ scope, caller, change, limits, closed });
			return reply(200, found, revisionHeader(found.base_revision));
		},
	}),
	endpoint({
		...methods({ tag, path: `${environment}/explanation`, params: EnvironmentPath }).post,
		name: 'explainCheck',
		summary: 'Explain a check at a revision',
		description:
			'Returns the same result as `POST /allowed` of a decision point with `"use_debugger": "attempts"`, for the ' +
			'policy and facts at a revision. The newest revision is always available; an older revision is available ' +
			`while its policy is kept and at most ${maxChangesSince} objects have changed since. Read-only access is ` +
			'enough. Requests share the queue of impact requests.',
		access: 'environment.impact',
		body: ExplanationRequest,
		example: explanationExample,
		returns: { 200: AuthorizationResult },
		failures: explanationFailures,
		handle: async ({ body, closed }, { scope, source, clock }) => {
			const explained = await source.explain({ scope, ...readRequest(body, clock), closed });
			return reply(200, explained, revisionHeader(body.revision));
		},
	}),
	endpoint({
		...methods({ tag, path: `${environment}/explanation/test`, params: EnvironmentPath }).post,
		name: 'writeCheckTest',
		summary: 'Write a check at a revision as a test for `opa test`',
		description:
			'Decides a check like `POST …/explanation`, and returns a test that expects the same decision from the policy ' +
			'at the revision (`GET …/policies/{revision}/archive`). The test includes its facts: if a role allows the ' +
			'check, the necessary facts; otherwise the roles of the user and the paths to the instance.',
		access: 'environment.impact',
		body: ExplanationRequest,
		example: explanationExample,
		returns: { 200: WrittenTest },
		failures: {
			...explanationFailures,
			409: 'The policy at the revision is not active, the check has too many facts, or the environment changes too often',
		},
		handle: async ({ body, closed }, { scope, source, clock }) => {
			const text = await source.writeTest({ scope, ...readRequest(body, clock), closed });
			return reply(200, { text }, revisionHeader(body.revision));
		},
	}),
];

function readRequest({ revision, token, at, ...query }: ExplanationRequest, clock: Clock) {
	return { query, revision, token: token ?? null, time: at === undefined ? clock.now() : new Date(at) };
}
