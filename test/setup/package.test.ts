// @rest

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { z } from 'zod';
import { client } from '../support/client.js';
import { freePort } from '../support/ports.js';
import { createDatabase } from '../support/postgres.js';
import { launch } from '../support/processes.js';
import { root } from '../support/root.js';
import { secretFor, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * The product is packed as a package, installed in an empty folder, started, and used. An image contains the same
 * files.
 */

const run = promisify(execFile);

const LockFile = z.object({
	packages: z.record(z.string(), z.object({ dev: z.boolean().optional(), hasInstallScript: z.boolean().optional() })),
});

function productionInstallScripts(lockFile: string): readonly string[] {
	const { packages } = LockFile.parse(JSON.parse(readFileSync(lockFile, 'utf8')));
	return Object.entries(packages).flatMap(([path, { dev, hasInstallScript }]) =>
		hasInstallScript === true && dev !== true ? [path] : [],
	);
}

test('no production dependency has an install script', (t) => {
	t.deepEqual(productionInstallScripts(join(root, 'package-lock.json')), []);
	t.regex(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});

test('the package can be installed in an empty folder, started there, and asked for decisions', async (t) => {
	t.timeout(300_000);
	const folder = temporary(t);
	const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
	await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
	const [packed = ''] = readdirSync(folder);
	t.is(packed, 'regolith-server-0.1.0.tgz');
	const user = join(folder, 'user');
	await run('npm', ['install', '--prefix', user, ...quietly, join(folder, packed)], { cwd: folder });
	const installed = join(user, 'node_modules/@regolith/server');
	t.true(existsSync(join(user, 'node_modules/.bin/regolith')));
	t.deepEqual(productionInstallScripts(join(user, 'node_modules/.package-lock.json')), []);
	for (const notice of ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']) {
		t.true(existsSync(join(installed, 'dist/console/reference', notice)), notice);
	}
	t.deepEqual(
		['dist/test', 'src', 'test', 'data', '.env', 'policy/regolith/check_test.rego'].filter((path) =>
			existsSync(join(installed, path)),
		),
		[],
	);

	const database = await createDatabase();
	t.teardown(database.drop);
	const [API_PORT, PDP_PORT] = [String(await freePort()), String(await freePort())];
	const env = { ...settings(join(folder, 'data'), 'packed'), DATABASE_URL: database.url, API_PORT, PDP_PORT };
	const running = launch({ command: ['start'], env, program: join(installed, 'dist/program/main.js') });
	t.teardown(() => running.kill('SIGKILL'));
	await running.answering(`http://127.0.0.1:${PDP_PORT}/ready`);

	const healthcheck = (ports: Readonly<Record<string, string>>) =>
		run(process.execPath, [join(installed, 'deploy/healthcheck.mjs')], { env: ports });
	await t.notThrowsAsync(healthcheck({ API_PORT, PDP_PORT }));

	const secret = secretFor('packed-environment');
	const api = client(`http://127.0.0.1:${API_PORT}`, secret);
	await api.post('/v2/schema/default/dev/resources', { key: 'report', name: 'Report', actions: { read: {} } });
	await api.post('/v2/schema/default/dev/roles', { key: 'reader', name: 'Reader', permissions: ['report:read'] });
	const ann = { key: 'ann', role_assignments: [{ role: 'reader', tenant: 'default' }] };
	const { revision = 0 } = await api.post('/v2/facts/default/dev/users', ann);
	const check = { user: 'ann', action: 'read', resource: { type: 'report', tenant: 'default' } };
	const headers = { 'x-min-revision': String(revision) };
	const pdp = client(`http://127.0.0.1:${PDP_PORT}`, secret);
	t.is((await pdp.post('/allowed', check, { headers })).body['allow'], true);
	for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/elements.js'])
		t.is((await api.get(path)).status, 200, path);
	t.deepEqual(await running.kill('SIGTERM'), { code: 0, signal: null });
});
