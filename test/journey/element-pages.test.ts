// @rest

import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { client } from '../support/client.js';
import { onEachStore } from '../support/each-store.js';
import { browsing, configure, furnishElements, origin, signIn } from '../support/element.js';
import { fails } from '../support/failure.js';
import { newPlace } from '../support/management.js';

/**
 * Serving element pages: allowed origins, content security policy, and loaded files (docs/develop/elements.md: Pages).
 */

const journey = onEachStore();
const nobody = '00000000-0000-4000-8000-000000000000';

interface Page {
	readonly status: number;
	readonly headers: Headers;
	readonly body: unknown;
}

/** Asserts that a response is this environment's element page, which these origins may embed. */
function isPage(t: ExecutionContext, { status, headers, body }: Page, origins: readonly string[], id: string): void {
	t.is(status, 200);
	t.is(headers.get('content-type'), 'text/html; charset=utf-8');
	t.is(headers.get('referrer-policy'), 'no-referrer');
	t.is(headers.get('cache-control'), 'no-cache');
	const policy = headers.get('content-security-policy') ?? '';
	t.regex(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; /);
	t.true(policy.endsWith(`; frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`), policy);
	const html = String(body);
	t.true(html.includes(`<meta name="regolith-environment" content="${id}">`));
	t.true(html.includes(`<meta name="regolith-origins" content="${origins.join(' ')}">`));
	t.notRegex(html, /<script>|<style|onload=|style=/, 'nothing inline');
}

journey('a page is served for the environment in its URL or session, to its origins', async (t, place) => {
	await furnishElements(place);
	const { url, id } = place;
	const anyone = client(url);
	const page = (query: string, http = anyone) => http.get(`/elements/members${query}`);
	for (const name of [id, id.replaceAll('-', ''), id.toUpperCase()]) {
		isPage(t, await page(`?envId=${name}&darkMode=true&tenantKey=acme`), [origin], id);
	}
	// Guessing ids reveals nothing, because a missing environment looks like an environment without origins.
	for (const query of ['', `?envId=${nobody}`, '?envId=', '?envId=default', `?envId=${id}&envId=${id}`]) {
		isPage(t, await page(query), [], '');
	}
	const ann = await browsing(place);
	isPage(t, await page('', ann), [origin], id);
	isPage(t, await page(`?envId=${nobody}`, ann), [], '');
	const another = 'http://localhost:3000';
	await configure(place, { settings: { elements_origins: [origin, another] } });
	isPage(t, await page(`?envId=${id}`), [origin, another], id);
	await configure(place, { settings: {} });
	isPage(t, await page(`?envId=${id}`), [], id);
	t.is((await anyone.send('HEAD', `/elements/members?envId=${id}`)).status, 200);
	fails(t, await anyone.post(`/elements/members?envId=${id}`, {}), 405);
});

journey('an element’s page is also served without /elements, and hides no API path', async (t, place, { project }) => {
	await furnishElements(place);
	const { url, id } = place;
	const anyone = client(url);
	isPage(t, await anyone.get(`/members?envId=${id}&elementsToken=true`), [origin], id);
	isPage(t, await (await browsing(place)).get('/members'), [origin], id);
	for (const path of ['/members', '/members?elementsToken=true', '/members?token=x'])
		fails(t, await anyone.get(path), 404);
	// Responses on other paths, current and former, are unchanged.
	t.is((await anyone.get(`/healthy?envId=${id}`)).body['status'], 'ok');
	t.true(String((await anyone.get(`/docs?envId=${id}`)).body).includes('API reference'));
	t.is((await anyone.get(`/openapi.json?envId=${id}`)).body['openapi'], '3.1.0');
	t.true(String((await anyone.get(`/elements.js?envId=${id}`)).body).includes('permitToken'));
	fails(t, await anyone.get(`/v1?envId=${id}`), 410);
	for (const path of ['/v2/nothing', '/members/x', '/members.html', '/.env', '/%20', '/', '/elements/']) {
		fails(t, await anyone.get(`${path}?envId=${id}`), 404);
	}
	for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
		fails(t, await anyone.send(method, `/members?envId=${id}`, {}), 404);
	}
	const elsewhere = await newPlace(place, project);
	isPage(t, await anyone.get(`/members?envId=${elsewhere.id}`), [], elsewhere.id);
});

/** Downloads a file as a browser does, without decompressing it. */
async function download(url: string, encoding: string) {
	return new Promise<{ headers: Readonly<Record<string, unknown>>; bytes: Buffer }>((resolve, reject) => {
		get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
			buffer(response).then((bytes) => resolve({ headers: response.headers, bytes }), reject);
		}).on('error', reject);
	});
}

/** Maximum size of a first load, in bytes. */
const budget = 60 * 1024;

journey('the page’s files are small, compressed, and cached permanently', async (t, { url, id }) => {
	const html = await download(`${url}/elements/members?envId=${id}`, 'gzip');
	const names = [...html.bytes.toString().matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, name = '']) => name);
	t.is(names.length, 2);
	let total = html.bytes.length;
	for (const name of names) {
		const [plain, gzip, br] = await Promise.all(
			['identity', 'gzip', 'gzip, deflate, br'].map((one) => download(url + name, one)),
		);
		t.regex(name, /^\/assets\/element-[A-Z0-9]{8}\.(?:js|css)$/);
		t.like(gzip?.headers, {
			'content-encoding': 'gzip',
			'content-type': name.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
			'cache-control': 'public, max-age=31536000, immutable',
			vary: 'accept-encoding',
			'x-content-type-options': 'nosniff',
		});
		t.is(plain?.headers['content-encoding'], undefined);
		t.is(br?.headers['content-encoding'], 'br');
		t.is((await download(url + name, 'br;q=0, gzip;q=0.5')).headers['content-encoding'], 'gzip');
		t.true((br?.bytes.length ?? 0) < (plain?.bytes.length ?? 0));
		total += gzip?.bytes.length ?? 0;
	}
	t.true(total <= budget, `a first load takes ${total} bytes`);
	for (const name of ['nothing.js', 'pages.json', '..%2fpages.json', '%2e%2e%2fstamp', `${names[0]?.slice(8)}.gz`]) {
		fails(t, await client(url).get(`/assets/${name}`), 404);
	}
	const script = await download(`${url}/elements.js`, 'br');
	t.like(script.headers, { 'cache-control': 'public, max-age=3600', 'cross-origin-resource-policy': 'cross-origin' });
	t.true(script.bytes.length < 4_096);
});

journey('an element page does not contain the ticket from its URL', async (t, place) => {
	await furnishElements(place);
	const { token } = await signIn(place);
	const { body } = await client(place.url).get(`/elements/members?envId=${place.id}&token=${token}`);
	t.false(String(body).includes(token), 'the page contains no part of the URL');
});
