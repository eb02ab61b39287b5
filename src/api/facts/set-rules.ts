import { z } from 'zod';
import { createSetRule, readSetRule, removeSetRule, resolveRuleFilter } from '../../domain/schema/set-rule.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { rulesBy } from '../../store/table/condition-set-rule.js';
import { SetRuleCreate, SetRuleQuery, SetRuleRead, SetRuleRemove } from '../../wire/schema/set-rule.js';
import { EnvironmentPath, endpoint } from '../access.js';

const tag = 'Condition set rules';
const collection = '/v2/facts/:proj_id/:env_id/set_rules';
const example = { user_set: 'adults', permission: 'document:read', resource_set: 'private_documents' };
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });

/** Rules between condition sets. */
export const setRules = [
	endpoint({
		...collectionPlace.get,
		name: 'listSetRules',
		summary: 'List condition set rules',
		description:
			'Unknown values match nothing. `permission` is `resource:action`, an action id, or an action key in any ' +
			'resource.',
		access: 'environment.read',
		query: SetRuleQuery,
		returns: { 200: z.array(SetRuleRead) },
		handle: async ({ query }, { unit }) => {
			const data = await rulesBy(unit, await resolveRuleFilter(unit, query)).slice(query);
			const items = data.map((row) => readSetRule(unit, row));
			return reply(200, items);
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createSetRule',
		summary: 'Grant a user set an action on a resource set',
		description:
			'With `is_role`, the user set is all holders of a tenant role. With `is_resource`, the resource set is all ' +
			'instances of a resource. An existing rule stays unchanged. Returns a list with the single rule.',
		access: 'environment.write',
		body: SetRuleCreate,
		example,
		returns: { 200: z.array(SetRuleRead) },
		failures: {
			400:
				'The permission is malformed or belongs to a different resource than the resource set, or a set has the ' +
				'wrong type',
			404: 'A set, role, resource or action does not exist',
		},
		handle: async ({ body }, { unit }) =>
			reply(
				200,
				(await createSetRule(unit, body)).map((row) => readSetRule(unit, row)),
			),
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'deleteSetRule',
		summary: 'Delete a condition set rule',
		description: 'A missing rule is skipped, even if its set, resource or action does not exist.',
		access: 'environment.write',
		body: SetRuleRemove,
		example,
		returns: { 204: null },
		failures: { 400: 'The permission is malformed' },
		handle: async ({ body }, { unit }) => emptied(removeSetRule(unit, body)),
	}),
];
