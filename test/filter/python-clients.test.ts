// @rest

/**
 * Filters through the published clients for Python, on SQLite. Installing them takes longer than their queries, so this
 * test runs only with `npm run test:all`.
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { key } from '../pdp/served.js';
import { onAllStores } from '../support/each-store.js';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';
import { compareAll, createWorld, names, questions, refusedBy, rows } from './documents-world.js';

const execute = promisify(execFile);

/** Packages with their programs. `permit-datafilter` needs SQLAlchemy 1.4. */
const clients = [
	{ name: 'permit-datafilter==0.0.3', program: 'permit_datafilter_client.py', refused: [...refusedBy.plan, 'recent'] },
	{ name: 'cerbos-sqlalchemy==0.4.0', program: 'cerbos_sqlalchemy_client.py', refused: refusedBy.plan },
];

for (const { name, program, refused } of clients) {
	(onAllStores ? test : test.skip)(`${name} selects the rows that checks allow`, async (t) => {
		t.timeout(600_000);
		const world = await createWorld(t);
		const environment = join(temporary(t), 'python');
		await execute('python3', ['-m', 'venv', environment]);
		await execute(join(environment, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', name]);
		const running = execute(join(environment, 'bin/python'), [join(root, 'test/filter/clients', program)]);
		const table = rows.map((row) => names.map((one) => row[one]));
		running.child.stdin?.end(JSON.stringify({ url: world.served.url, key, names, rows: table, questions }));
		const answers: readonly (readonly string[] | 'refused')[] = JSON.parse((await running).stdout);
		await compareAll(t, world, refused, async (user, action) => {
			return answers[questions.findIndex((one) => one[0] === user && one[1] === action)] ?? [];
		});
	});
}
