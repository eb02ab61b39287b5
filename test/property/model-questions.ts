import type { Model } from '../../compiler/model.js';
import { instanceNames, userNames } from '../compiler/model.js';
import type { Question } from './questions.js';

const users = [...userNames, 'unone'];
const instances = [null, ...instanceNames, 'inone'];

/**
 * Every user, action and instance of a model together, each in its tenant and without one, and, with one action, in
 * other tenants; so too for users, actions, instances and tenants that do not exist.
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
			return [...asked, ...elsewhere, { user: { key: 'ua' }, action: 'none', resource }];
		}),
	);
}
