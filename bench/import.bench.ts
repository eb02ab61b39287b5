import { client } from '../test/support/client.js';
import type { StoreKind } from '../test/support/postgres.js';
import { type Api, accepted, startApi } from './support/api.js';
import { environmentDocument } from './support/environment-document.js';
import { processorTime } from './support/processor-time.js';
import { schemaDocument, setRules } from './support/schema-shapes.js';

/**
 * Measures the import of an environment document over HTTP, first into an empty environment and then again, and the
 * replacement of 25,000 rules. Runs on both stores, with the API in a separate process. `SCALE` multiplies the facts,
 * `ROUNDS` is the number of runs, `IMPORT` selects lists of steps by a part of a title, `STORE` selects a store.
 */

const scale = Number(process.env['SCALE'] ?? 1);
const rounds = Number(process.env['ROUNDS'] ?? 3);
const wanted = process.env['IMPORT'] ?? '';
const kinds = (process.env['STORE'] ?? 'server,embedded').split(',') as StoreKind[];

interface Step {
	readonly title: string;
	readonly body: object;
	readonly strategy: 'overwrite' | 'replace';
}

/** 25,000 rules for a resource, and 25,000 rules for the same resource with a different layout. */
const [rules, otherRules] = ['on one action', 'over 40 actions'].map((layout) =>
	schemaDocument(setRules(320, 25_000, layout as Parameters<typeof setRules>[2])),
) as [object, object];
const whole = environmentDocument(scale);
/**
 * Initial contents. They are small, because PostgreSQL plans statements on small tables and then reuses these plans on
 * large tables.
 */
const small = environmentDocument(0.05);

/** Each list of steps runs in its own environment. The lists run one after the other. */
const lists: readonly (readonly Step[])[] = [
	[
		{ title: 'a document into an empty environment', body: whole, strategy: 'overwrite' },
		{ title: 'the same document again', body: whole, strategy: 'overwrite' },
		{ title: 'the same document again, with replace', body: whole, strategy: 'replace' },
	],
	[
		{ title: '25,000 rules into an empty environment', body: rules, strategy: 'overwrite' },
		{ title: '25,000 rules replacing existing rules', body: { ...otherRules, facts: {} }, strategy: 'replace' },
	],
];

async function measure(
	api: Api,
	list: readonly Step[],
	note: (title: string, wall: number, processor: number) => void,
) {
	const { facts, secret } = await api.place();
	const path = `${facts.replace('/v2/facts/default', '/v2/projects/default/envs')}/import`;
	const http = client(api.url, secret);
	for (const { title, body, strategy } of list) {
		const text = JSON.stringify(body);
		const [started, used] = [performance.now(), processorTime(api.pid)];
		accepted(await http.post(`${path}?conflict_strategy=${strategy}`, undefined, { raw: text }));
		note(title, (performance.now() - started) / 1000, processorTime(api.pid) - used);
	}
}

const median = (values: readonly number[]) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

for (const kind of kinds) {
	const api = await startApi(kind);
	await measure(api, [{ title: 'a small document', body: small, strategy: 'overwrite' }], () => {});
	const figures = new Map<string, { readonly walls: number[]; readonly processors: number[] }>();
	for (let round = 0; round < rounds; round += 1) {
		for (const list of lists.filter((steps) => steps.some(({ title }) => title.includes(wanted)))) {
			await measure(api, list, (title, wall, processor) => {
				const { walls, processors } = figures.get(title) ?? { walls: [], processors: [] };
				figures.set(title, { walls: [...walls, wall], processors: [...processors, processor] });
			});
		}
	}
	await api.stop();
	for (const [title, { walls, processors }] of figures) {
		const each = walls.map((wall) => wall.toFixed(1)).join(' ');
		console.log(
			`${kind.padEnd(9)} ${title.padEnd(42)} ${median(walls).toFixed(1).padStart(6)} s elapsed, API CPU time ${median(processors).toFixed(1).padStart(6)} s (${each})`,
		);
	}
}
