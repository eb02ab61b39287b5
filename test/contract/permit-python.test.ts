// @rest

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { onAllStores } from '../support/each-store.js';
import { root } from '../support/root.js';
import { startStack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * The published Python SDK, unmodified. Installing it takes longer than its calls, so this test runs only with
 * `npm run test:all`.
 */

const run = promisify(execFile);

/** The package version is pinned, because a newer version may need different endpoints. */
const sdk = 'permit==3.0.0';

(onAllStores ? test : test.skip)('the Python SDK writes facts and gets the expected decisions', async (t) => {
	t.timeout(300_000);
	const environment = join(temporary(t), 'python');
	await run('python3', ['-m', 'venv', environment]);
	await run(join(environment, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', sdk]);
	const stack = await startStack();
	t.teardown(stack.stop);
	const { stdout } = await run(join(environment, 'bin', 'python'), [join(root, 'test/contract/permit_python.py')], {
		env: {
			...process.env,
			PERMIT_API_KEY: stack.keys.environment,
			PERMIT_API_URL: stack.api.listening.url,
			PERMIT_PDP_URL: stack.decisionPoint.listening.url,
		},
	});
	t.true(stdout.trim().split('\n').length > 20, stdout);
});
