// @apart @both

import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { acrossStores, onEachStore } from '../support/each-store.js';
import { type Management, newPlace, type Place } from '../support/management.js';
import { type Stack, startStack } from '../support/stack.js';
import { draws } from '../support/tier.js';
import { type Document, drawDocument, type Json } from './documents.js';

/**
 * On both stores, any environment can be exported as a document and imported again without loss, even if the target
 * contains other objects.
 */

const journey = onEachStore({ embedded: 'all' });

/** Returns a document without its origin, with links in a fixed order. */
function comparable({ environment: _, schema, facts, ...document }: Json): Json {
	const ordered = (half: unknown) =>
		Object.fromEntries(
			Object.entries(half as Json).map(([member, held]) => [member, isList(held) ? listed(held) : held]),
		);
	return JSON.parse(JSON.stringify({ ...document, schema: ordered(schema), facts: ordered(facts) }));
}

function isList(held: unknown): held is readonly Json[] {
	return Array.isArray(held);
}

function listed(list: readonly Json[]): readonly string[] {
	return list.map((link) => JSON.stringify(Object.entries(link).sort())).sort();
}

async function placeExport({ url, secret, project, key }: Place): Promise<string> {
	const path = `${url}/v2/projects/${project}/envs/${key}/export`;
	return (await fetch(path, { headers: { authorization: `Bearer ${secret}` } })).text();
}

/** Returns the document without its origin lines. */
function content(text: string): string {
	return text.replace(/^\t"environment": .*$/m, '');
}

const runs = draws(10);

journey('a document imported over any environment equals its next export', async (t, place, management) => {
	const path = `/v2/projects/default/envs/${place.key}/import?conflict_strategy=replace`;
	const property = fc.asyncProperty(fc.gen(), async (random) => {
		const document = drawDocument(random);
		const dry = await place.http.post(`${path}&dry_run=true`, document);
		const real = await place.http.post(path, document);
		if (real.status !== 200) throw new Error(JSON.stringify(real.body));
		t.deepEqual({ ...dry.body, dry_run: false }, real.body, 'the dry run predicted the changes');
		const text = await placeExport(place);
		t.deepEqual(comparable(JSON.parse(text)), comparable(document));
		t.is(content(await fresh(management, document)), content(text), 'the same as in a new environment');
	});
	await fc.assert(property, { numRuns: runs });
});

async function fresh(management: Management, document: unknown): Promise<string> {
	const other = await newPlace(management, management.project);
	const path = `/v2/projects/default/envs/${other.key}`;
	await other.http.post(`${path}/import?conflict_strategy=replace`, document);
	const text = await placeExport(other);
	await management.project.delete(path);
	return text;
}

const pathOfDev = '/v2/projects/default/envs/dev';

async function stackExport(t: ExecutionContext, { api, keys }: Stack): Promise<string> {
	const headers = { authorization: `Bearer ${keys.environment}` };
	const answer = await fetch(`${api.listening.url}${pathOfDev}/export`, { headers });
	t.is(answer.status, 200);
	return answer.text();
}

/** Imports a document into the environment `dev`, and waits until the decision point uses it. */
async function become(t: ExecutionContext, stack: Stack, raw: string): Promise<void> {
	const path = `${pathOfDev}/import?conflict_strategy=replace`;
	const answer = await stack.environment.post(path, undefined, { raw });
	t.is(answer.status, 200, JSON.stringify(answer.body));
	await stack.reached(answer.revision);
}

/** Returns the decisions for every user, action and tenant in a document. */
async function decisions({ pdp }: Stack, { schema, facts }: Document): Promise<readonly boolean[]> {
	const tenants = [...Object.keys(facts.tenants), 'elsewhere'];
	const checks = Object.keys(facts.users).flatMap((user) =>
		Object.entries(schema.resources).flatMap(([type, { actions }]) =>
			tenants.flatMap((tenant) =>
				[...Object.keys(actions), 'other'].map((action) => {
					return { user: { key: user }, action, resource: { type, tenant } };
				}),
			),
		),
	);
	if (checks.length === 0) return [];
	const { body } = await pdp.post<{ allow: readonly { allow: boolean }[] }>('/allowed/bulk', checks);
	return body.allow.map(({ allow }) => allow);
}

acrossStores('any environment moves from store to store and back, and decisions do not change', async (t) => {
	const [embedded, server] = [await startStack('embedded'), await startStack('server')];
	try {
		const first = await stackExport(t, embedded);
		const property = fc.asyncProperty(fc.gen(), async (random) => {
			const document = drawDocument(random);
			await become(t, embedded, JSON.stringify(document));
			const text = await stackExport(t, embedded);
			await become(t, server, text);
			t.is(await stackExport(t, server), text, 'byte for byte');
			t.deepEqual(await decisions(server, document), await decisions(embedded, document));
			await become(t, embedded, first);
			t.is(await stackExport(t, embedded), first, 'an older export restores the previous state');
			await become(t, embedded, await stackExport(t, server));
			t.is(await stackExport(t, embedded), text, 'and back');
		});
		await fc.assert(property, { numRuns: 3 });
	} finally {
		await embedded.stop();
		await server.stop();
	}
});
