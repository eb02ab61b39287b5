// @rest

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { firstSteps } from '../../src/command/welcome.js';
import { onAllStores } from '../support/each-store.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { fencedBlocks, printedAs, Terminal } from '../support/readme-reader.js';
import { root } from '../support/root.js';
import { type Stack, startStack } from '../support/stack.js';
import { removeFolder, temporary } from '../support/temporary.js';

/**
 * The guides in `docs/develop/guides` work as written: the application starts, and responds as shown on the page. Most
 * guides need packages or a compiler, so their tests run only with `npm run test:all`.
 */

let stack: Stack;

test.before('start', async () => {
	stack = await startStack();
	const printed = firstSteps(stack.api.listening.url, stack.decisionPoint.listening.url, stack.keys.environment);
	await promisify(execFile)('bash', ['-ec', printed.slice(printed.indexOf('  export')).replaceAll(/^\S.*$/gm, '')]);
});

test.after.always('stop', () => stack.stop());

function blocksOf(guide: string) {
	return fencedBlocks(readFileSync(join(root, `docs/develop/guides/${guide}.md`), 'utf8'));
}

function addresses() {
	return {
		PERMIT_API_KEY: stack.keys.environment,
		PERMIT_API_URL: stack.api.listening.url,
		PERMIT_PDP_URL: stack.decisionPoint.listening.url,
	};
}

for (const guide of ['express', 'fastapi', 'go']) {
	(onAllStores ? test : test.skip)(`the guide for ${guide} protects its routes`, async (t) => {
		t.timeout(600_000);
		const port = await freePort();
		const env = { ...addresses(), GOCACHE: join(homedir(), '.cache/go-build'), npm_config_audit: 'false' };
		const here = {
			'http://localhost:7766': stack.decisionPoint.listening.url,
			'localhost:3000': `127.0.0.1:${port}`,
			'127.0.0.1:3000': `127.0.0.1:${port}`,
			'--port 3000': `--port ${port}`,
			'listen(3000)': `listen(${port})`,
		};
		const terminal = new Terminal(temporary(t), env, here, []);
		let printed = '';
		let compared = 0;
		for (const { language, text, before } of blocksOf(guide)) {
			const [, saved] = /^Save this as `([^`]+)`/.exec(before) ?? [];
			if (saved !== undefined) {
				terminal.save(saved, text);
			} else if (language === 'sh') {
				const ran = await terminal.runBlock(text, () => eventually(() => fetch(`http://127.0.0.1:${port}/`)));
				t.teardown(ran.stop);
				printed = ran.printed;
			} else {
				t.regex(printed, printedAs(text), printed);
				compared += 1;
			}
		}
		t.is(compared, 1);
	});
}

test('the route handlers in the Next.js guide respond as shown on the page', async (t) => {
	// The folder is inside the package, so that Node.js finds the SDK.
	const folder = mkdtempSync(join(root, 'dist', 'guide-'));
	t.teardown(() => removeFolder(folder));
	const { PERMIT_API_KEY, ...urls } = addresses();
	const here = {
		'process.env.PERMIT_API_KEY': `'${PERMIT_API_KEY}'`,
		'http://localhost:8000': urls.PERMIT_API_URL,
		'http://localhost:7766': urls.PERMIT_PDP_URL,
	};
	const terminal = new Terminal(folder, {}, here, []);
	for (const { text, before } of blocksOf('nextjs')) {
		const [, saved] = /^Save this as `([^`]+)`/.exec(before) ?? [];
		if (saved !== undefined) terminal.save(saved, text);
	}
	const route = await import(pathToFileURL(join(folder, 'app/documents/[id]/route.js')).href);
	const call = async (method: 'GET' | 'PUT', headers: Record<string, string>) => {
		const request = new Request('http://localhost/documents/plan', { method, headers });
		const response: Response = await route[method](request, { params: Promise.resolve({ id: 'plan' }) });
		return [response.status, await response.json()];
	};
	t.deepEqual(await call('GET', { 'X-User': 'alice' }), [200, { id: 'plan' }]);
	t.deepEqual(await call('PUT', { 'X-User': 'alice' }), [403, { error: 'not allowed' }]);
	t.deepEqual(await call('GET', {}), [401, { error: 'sign in first' }]);
});
