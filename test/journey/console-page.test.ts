// @rest

import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { sending } from '../support/element.js';
import { fails } from '../support/failure.js';

/** Serving the console page (docs/policy/console.md). */

const journey = onEachStore();

const policy =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

journey('the page is the same at all its URLs and for all callers, with its security policy', async (t, place) => {
	const { url, id, key } = place;
	const anyone = client(url);
	const { body: page } = await anyone.get<string>('/console');
	const addresses = [
		'/console/',
		`/console/default/${key}`,
		`/console/default/${key}/`,
		`/console/${place.project_id}/${id}/check/and/why`,
		'/console/nowhere/nothing/roles?user=a%20b&ticket=x',
		'/console/a%2Fb/%3Cscript%3E/x',
	];
	for (const address of ['/console', ...addresses]) {
		const { status, headers, body } = await anyone.get<string>(address);
		t.is(status, 200, address);
		t.is(body, page, address);
		for (const [name, value] of Object.entries({
			'content-type': 'text/html; charset=utf-8',
			'content-security-policy': policy,
			'x-content-type-options': 'nosniff',
			'referrer-policy': 'no-referrer',
			'cache-control': 'no-cache',
			'cross-origin-opener-policy': 'same-origin',
		})) {
			t.is(headers.get(name), value, `${name} of ${address}`);
		}
		t.is(headers.get('set-cookie'), null);
		t.is((await anyone.send('HEAD', address)).status, 200);
		fails(t, await anyone.post(address, {}), 405);
	}
	t.true(page.includes('<title>Regolith</title>') && page.includes('<div id="app"></div>'));
	t.notRegex(page, /<script>|<style|onload=|style=/, 'nothing inline');
	for (const path of [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path = '']) => path)) {
		t.regex(path, /^\/assets\/console-[A-Z0-9]{8}\.(?:js|css)$/);
		t.like(await anyone.get(path), { status: 200 });
	}
	for (const path of ['/console/default', '/Console', '/consoles/a/b']) fails(t, await anyone.get(path), 404);
	t.is((await sending(url, { 'x-console-environment': id }).get('/console')).status, 200);
});

journey('the page is not part of the API document', async (t, { url }) => {
	const { body } = await client(url).get<{ readonly paths: object }>('/openapi.json');
	const paths = Object.keys(body.paths);
	t.true(paths.includes('/v2/auth/console'));
	t.deepEqual(
		paths.filter((path) => path.startsWith('/console')),
		[],
	);
});
