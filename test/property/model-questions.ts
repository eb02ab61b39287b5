import type { Model } from '../../compiler/model.js';
import { instanceNames, userNames } from '../compiler/model.js';
import type { Question } from './questions.js';

const users = [...userNames, 'unone'];
const instances = [null, ...instanceNames, 'inone'];

/**
 * Returns questions for every combination of user, action and instance in a model, with the instance's tenant. For the
 * first action, also asks with other tenants and without a tenant. If the schema has grant conditions, also asks with
 * contexts. Includes missing users, actions, instances and tenants.
 */
export function modelQuestions({ schema, facts }: Model): readonly Question[] {
	return schema.resources.flatMap(({ key: type, actions }) =>
		instances.flatMap((key) => {
			const own = facts.instances.find((row) => row.type === type && row.key === key)?.tenant ?? 'ta';
			const resource = { type, tenant: own, ...(key === null ? {} : { key }) };
			const known = actions.map((action) => action.key);
			const asked = users.flatMap((user) => known.map((action) => ({ user: { key: user }, action, resource })));
			const elsewhere = users.flatMap((user) =>
				['tb', 'tnone', null].map((tenant) => ({
					user: { key: user },
					action: known[0] ?? 'none',
					resource: { ...resource, tenant },
				})),
			);
			const contexts = schema.grant_conditions === undefined ? [] : [{ amount: 1 }, { amount: 'one' }];
			const inContext = contexts.flatMap((context) => asked.map((question) => ({ ...question, context })));
			return [...asked, ...inContext, ...elsewhere, { user: { key: 'ua' }, action: 'none', resource }];
		}),
	);
}
