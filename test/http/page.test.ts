import test from 'ava';
import { pageEndpoints } from '../../src/http/page.js';
import { createApplication, type Listening, listen } from '../../src/http/server.js';
import { renderSampleFailure, sampleSurround } from './sample.js';

/** The API page loads everything from its own server. */

let server: Listening;

test.before(async () => {
	const application = createApplication({
		endpoints: pageEndpoints({ documentPath: '/openapi.json', pagePath: '/docs', access: 'open' }),
		surround: sampleSurround,
		renderFailure: renderSampleFailure,
		onUnexpected: (error) => {
			throw error;
		},
	});
	server = await listen(application, '127.0.0.1', 0);
});

test.after.always(() => server.close(0));

test('the page refers only to files on its own server, and all of them are served', async (t) => {
	const page = await fetch(`${server.url}/docs`);
	t.is(page.status, 200);
	t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
	const names = [...(await page.text()).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name]) => name ?? '');
	t.is(names.length, 4);
	for (const name of names) {
		t.true(name.startsWith('/docs/'), name);
		const asset = await fetch(server.url + name);
		t.is(asset.status, 200, name);
		t.true((await asset.arrayBuffer()).byteLength > 0);
	}
});

const types: Readonly<Record<string, string>> = {
	'swagger-ui.css': 'text/css; charset=utf-8',
	'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
	'start.js': 'text/javascript; charset=utf-8',
	'favicon-32x32.png': 'image/png',
};

for (const [name, type] of Object.entries(types)) {
	test(`${name} has the type ${type}, and a repeated request returns the same file`, async (t) => {
		const [first, second] = await Promise.all([1, 2].map(() => fetch(`${server.url}/docs/${name}`)));
		t.is(first?.headers.get('content-type'), type);
		t.is(first?.headers.get('x-content-type-options'), 'nosniff');
		t.is(await first?.text(), await second?.text());
	});
}

test('the page cannot run or load anything from other servers', async (t) => {
	const policy = (await fetch(`${server.url}/docs`)).headers.get('content-security-policy') ?? '';
	t.regex(policy, /default-src 'none'/);
	t.regex(policy, /script-src 'self';/);
	t.notRegex(policy, /unsafe|https?:|\*/);
});

test('the page opens its document and contacts no validator', async (t) => {
	const script = await (await fetch(`${server.url}/docs/start.js`)).text();
	t.regex(script, /"url":"\/openapi.json"/);
	t.regex(script, /"validatorUrl":null/);
});

for (const name of [
	'package.json',
	'swagger-ui-bundle.js.map',
	'..%2Fpackage.json',
	'..%2f..%2fkoa%2fpackage.json',
	'%2e%2e',
	'constructor',
	'__proto__',
	'a%00b',
]) {
	test(`returns 404 for ${name}, which is not an asset of the page`, async (t) => {
		t.is((await fetch(`${server.url}/docs/${name}`)).status, 404);
	});
}
