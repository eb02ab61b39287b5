import { evaluateConditions } from '../../domain/preview/condition-evaluation.js';
import { previewConditions } from '../../domain/preview/condition-preview.js';
import { reply } from '../../http/endpoint.js';
import {
	ConditionEvaluation,
	ConditionEvaluationRead,
	ConditionPreview,
	ConditionPreviewRead,
} from '../../wire/schema/condition-preview.js';
import { EnvironmentPath, endpoint } from '../access.js';

const tag = 'Condition sets';
const collection = '/v2/schema/:proj_id/:env_id/condition_sets';
const asked =
	'The set is one that is stored, or is written out, or is a stored one with other `conditions`. Nothing is changed, ' +
	'and a key that may read is enough.';
const failures = {
	400: 'The resource instance belongs to another tenant, its key alone names several instances, or the conditions cost too much',
	404: 'The set, its resource or parent, or the tenant names nothing',
};
const conditions = { allOf: [{ 'user.roles': { array_contains: 'editor' } }, { 'user.private': { equals: true } }] };

/** Condition set previews before first use. Regolith adds these endpoints to Permit's API. */
export const conditionPreviews = [
	endpoint({
		name: 'previewConditionSet',
		summary: 'Which users or resource instances a condition set selects now',
		description:
			`${asked} All users, or all instances of the resource, are looked at. With a tenant, users have the roles they ` +
			'hold there, and instances are those of it. `user` or `resource` is the other side of the check.',
		tag,
		method: 'post',
		path: `${collection}/preview`,
		access: 'environment.read',
		params: EnvironmentPath,
		body: ConditionPreview,
		example: { type: 'userset', conditions, tenant: 'acme', page: 1, per_page: 30 },
		returns: { 200: ConditionPreviewRead },
		failures,
		handle: async ({ body, closed }, { unit }) => reply(200, await previewConditions(unit, body, () => closed.aborted)),
	}),
	endpoint({
		name: 'evaluateConditionSet',
		summary: 'Whether a condition set selects one user or resource instance, and why',
		description:
			`${asked} A stored user or instance may be given more attributes, as in a check; an unknown user or instance ` +
			'has only the given attributes, and no roles.',
		tag,
		method: 'post',
		path: `${collection}/evaluate`,
		access: 'environment.read',
		params: EnvironmentPath,
		body: ConditionEvaluation,
		example: { type: 'userset', conditions, tenant: 'acme', user: { key: 'alice@example.com', attributes: {} } },
		returns: { 200: ConditionEvaluationRead },
		failures,
		handle: async ({ body }, { unit }) => reply(200, await evaluateConditions(unit, body)),
	}),
];
