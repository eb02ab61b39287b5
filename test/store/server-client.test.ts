import { isUnreachable } from '../../src/store/database.js';
import { User } from '../../src/store/table/user.js';
import { onEachStore } from '../support/each-store.js';
import { scopeIn } from '../support/scope.js';

/** What connections to a server keep prepared. */

const journey = onEachStore();

journey(
	'tables that change under prepared statements cost each connection one transaction',
	async (t, place, { store }) => {
		const scope = await scopeIn(place);
		const write = (key: string) => store.write(scope, null, (unit) => unit.create(User, { key, attributes: {} }, key));
		for (const key of ['a', 'b', 'c']) await write(key);
		await store.database.knex.raw('alter table users add column later text');
		const failures: unknown[] = [];
		for (let attempt = 0; attempt < 20; attempt += 1) {
			try {
				await write(`later-${attempt}`);
				break;
			} catch (error) {
				failures.push(error);
			}
		}
		t.true(failures.length > 0 && failures.length <= 10, `${failures.length} failures`);
		for (const error of failures) t.true(isUnreachable(error), String(error));
		t.true((await store.database.knex('users').where({ key: `later-${failures.length}` })).length === 1);
	},
	['server'],
);
