import { evaluateConditions } from '../../domain/preview/condition-evaluation.js';
import { previewConditions } from '../../domain/preview/condition-preview.js';
import { methods, reply } from '../../http/endpoint.js';
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
	'Accepts a stored set, a complete set in the request, or a stored set with different `conditions`. Nothing ' +
	'changes, and read-only access is enough.';
const failures = {
	400:
		'The resource instance belongs to a different tenant, its bare key is ambiguous, or the conditions are too ' +
		'expensive',
	404: 'The set, its resource or parent, or the tenant does not exist',
};
const conditions = { allOf: [{ 'user.roles': { array_contains: 'editor' } }, { 'user.private': { equals: true } }] };

/** Condition set previews, which Permit's API does not have. */
export const conditionPreviews = [
	endpoint({
		...methods({ tag, path: `${collection}/preview`, params: EnvironmentPath }).post,
		name: 'previewConditionSet',
		summary: 'Find the users or resource instances that match a condition set',
		description:
			`${asked} Examines all users, or all instances of the resource. With a tenant, users have only their roles ` +
			'there, and only instances in the tenant are examined. Operands may refer to the given `user` or `resource`.',
		access: 'environment.read',
		body: ConditionPreview,
		example: { type: 'userset', conditions, tenant: 'acme', page: 1, per_page: 30 },
		returns: { 200: ConditionPreviewRead },
		failures,
		handle: async ({ body, closed }, { unit }) => reply(200, await previewConditions(unit, body, () => closed.aborted)),
	}),
	endpoint({
		...methods({ tag, path: `${collection}/evaluate`, params: EnvironmentPath }).post,
		name: 'evaluateConditionSet',
		summary: 'Evaluate a condition set for one user or resource instance',
		description:
			`${asked} Explains every comparison. The request may add attributes to a stored user or instance, as in a ` +
			'check. An unknown user or instance has only the attributes in the request, and no roles.',
		access: 'environment.read',
		body: ConditionEvaluation,
		example: { type: 'userset', conditions, tenant: 'acme', user: { key: 'alice@example.com', attributes: {} } },
		returns: { 200: ConditionEvaluationRead },
		failures,
		handle: async ({ body }, { unit }) => reply(200, await evaluateConditions(unit, body)),
	}),
];
