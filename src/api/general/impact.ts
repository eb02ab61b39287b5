import { reply } from '../../http/endpoint.js';
import { applyDraft } from '../../transfer/draft.js';
import { AuthorizationResult } from '../../wire/decision/check.js';
import { ExplanationRequest, Impact, ImpactRequest, maxChangesSince } from '../../wire/general/impact.js';
import { EnvironmentPath, endpoint, revisionHeader } from '../access.js';

const tag = 'Impact';
const environment = '/v2/projects/:proj_id/envs/:env_id';

/** Access gained and lost through a draft. */
export const impact = [
	endpoint({
		name: 'findImpact',
		summary: 'Who gains and who loses by a draft',
		description:
			'Compares what is allowed at the newest revision, and what would be allowed with the draft: every user, every ' +
			'action, every resource in every tenant and every instance in its tenant. Only what the draft can concern is asked, ' +
			'and nothing is changed. A key that may read is enough. Where it is `truncated`, counts are lower bounds. The newest ' +
			'logged decisions are decided again as well. A separate process compares one request of an environment ' +
			'at a time; few others wait.',
		tag,
		method: 'post',
		path: `${environment}/impact`,
		access: 'environment.impact',
		params: EnvironmentPath,
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
			400: 'A rule of the API is broken: what is built in would change, or a limit would be exceeded',
			404: 'No such environment, an object to change or delete does not exist, or a value refers to what does not exist',
			409:
				'What the draft is about has changed since `base_revision`: `additional_info.conflicts` names what. Or an object ' +
				'to create exists. Or the environment changes all the time',
			429: 'Other requests of this kind wait for the environment already',
			503: 'It took too long or too much memory, or its process ended',
		},
		handle: async ({ body: { draft, limits }, closed }, { scope, caller, source }) => {
			const change = (unit: Parameters<typeof applyDraft>[0]) => applyDraft(unit, draft);
			const found = await source.find({ scope, caller, change, limits, closed });
			return reply(200, found, revisionHeader(found.base_revision));
		},
	}),
	endpoint({
		name: 'explainCheck',
		summary: 'Why a check comes out as it does, at a revision',
		description:
			'Answers what `POST /allowed` of a decision point answers with `"use_debugger": "attempts"`, by the policy and the ' +
			`facts of a revision. The newest revision is always there, and older ones while their policy is kept and at most ` +
			`${maxChangesSince} objects have changed since. A key that may read is enough. It waits for its turn as impact does.`,
		tag,
		method: 'post',
		path: `${environment}/explanation`,
		access: 'environment.impact',
		params: EnvironmentPath,
		body: ExplanationRequest,
		example: {
			user: 'ann@example.com',
			action: 'read',
			resource: { type: 'document', key: 'plan', tenant: 'acme' },
			revision: 12,
		},
		returns: { 200: AuthorizationResult },
		failures: {
			404: 'No such environment, or no such revision yet',
			409: 'The environment has no policy yet, or changes all the time',
			410: 'The revision is no longer kept, or is another one now',
			429: 'Other requests of this kind wait for the environment already',
			503: 'It took too long or too much memory, or its process ended',
		},
		handle: async ({ body: { revision, token = null, at, ...query }, closed }, { scope, source, clock }) => {
			const time = at === undefined ? clock.now() : new Date(at);
			const explained = await source.explain({ scope, query, revision, token, time, closed });
			return reply(200, explained, revisionHeader(revision));
		},
	}),
];
