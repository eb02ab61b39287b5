import type { Json, Model } from '../compiler/model.js';
import { runToEnd } from '../compiler/steps.js';
import type { DecisionContext } from '../src/pdp/decide/decide.js';
import { Engine } from '../src/pdp/engine/engine.js';
import { FactsIndex } from '../src/pdp/facts/facts-index.js';
import { type Filter, filterRows } from '../src/pdp/filter/filter.js';
import { acme, modelData, policyWasm, quiet, resource } from '../test/pdp/environment.js';
import { quantile } from './support/quantile.js';

/**
 * Measures data filters with 50 condition set rules, at 20,000 and 200,000 instances: their CPU time and size. Targets (p95):
 * 5 ms without keys, 20 ms with 5,000 keys.
 */

const rounds = Number(process.env['ROUNDS'] ?? 200);
const keys = 5_000;
const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });
const tenantOf = (index: number) => `tenant-${index % 50}`;
const set = (key: string, type: 'userset' | 'resourceset', conditions: Json) => {
	const of = type === 'userset' ? null : 'document';
	return { ...named(key), type, resource: of, parent: null, selects: { conditions } } as const;
};
const role = { permissions: ['read'], extends: [], no_direct_roles_on_object: false };

/** Ann holds roles in ten tenants, and ben a role on a folder with 5,000 documents. */
function modelWith(instances: number): Model {
	const derivations = [{ relation: 'parent', role: 'keeper', no_direct_roles_on_object: false }];
	return {
		schema: {
			resources: [
				{
					...resource('document', ['read']),
					roles: [{ ...named('reader'), ...role, derivations }],
					relations: [{ ...named('parent'), subject: 'folder' }],
				},
				{ ...resource('folder', ['read']), roles: [{ ...named('keeper'), ...role, derivations: [] }] },
			],
			roles: [
				{ ...named('viewer'), permissions: [{ resource: 'document', action: 'read' }], extends: [] },
				{ ...named('guest'), permissions: [], extends: [] },
			],
			condition_sets: range(50).flatMap((index) => [
				set(`users-${index}`, 'userset', { 'user.level': { 'greater-than-equals': index % 5 } }),
				set(`documents-${index}`, 'resourceset', {
					allOf: [
						{ 'resource.class': { equals: `class-${index}` } },
						{
							anyOf: [{ 'resource.owner': { equals: { ref: 'user.key' } } }, { 'resource.level': { 'less-than': 3 } }],
						},
					],
				}),
			]),
			set_rules: range(50).map((index) => {
				return { user_set: `users-${index}`, resource_set: `documents-${index}`, resource: 'document', action: 'read' };
			}),
		},
		facts: {
			...acme.facts,
			users: ['ann', 'ben'],
			tenants: range(50).map((index) => ({ key: tenantOf(index), attributes: {} })),
			role_assignments: range(10).map((index) => {
				return { user: 'ann', role: index < 2 ? 'viewer' : 'guest', tenant: tenantOf(index) };
			}),
			user_attributes: ['ann', 'ben'].map((user) => ({ user, attributes: { level: user === 'ann' ? 3 : -1 } })),
			instances: [
				{ type: 'folder', key: 'shared', tenant: tenantOf(0) },
				...range(instances).map((index) => {
					return { type: 'document', key: `document-${index}`, tenant: tenantOf(index < keys ? 0 : index) };
				}),
			],
			instance_attributes: range(instances).map((index) => {
				const attributes = { class: `class-${index % 500}`, owner: index % 2 === 0 ? 'ann' : 'ben', level: index % 9 };
				return { type: 'document', key: `document-${index}`, attributes };
			}),
			instance_assignments: [{ user: 'ben', role: 'keeper', type: 'folder', instance: 'shared' }],
			relationships: range(keys).map((index) => {
				const object = { type: 'document', instance: `document-${index}` };
				return { ...object, relation: 'parent', subject_type: 'folder', subject: 'shared' };
			}),
		},
	};
}

/** Runs a call repeatedly. Returns its last result. */
function measured<T>(title: string, run: () => T): T {
	let result = run();
	const took: number[] = [];
	for (const _ of range(rounds)) {
		const start = process.cpuUsage();
		result = run();
		const { user, system } = process.cpuUsage(start);
		took.push((user + system) / 1000);
	}
	const [p50, p95] = [quantile(took, 0.5), quantile(took, 0.95)].map((time) => time.toFixed(2));
	console.log(`${title}: p50 ${p50} ms, p95 ${p95} ms CPU`);
	return result;
}

for (const instances of [20_000, 200_000]) {
	console.log(`${instances} instances`);
	const model = modelWith(instances);
	const data = modelData(model);
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(model)), data);
	const facts = FactsIndex.read(data);
	const context: DecisionContext = { engine, facts, revision: 1, policyRevision: 1, time: Date.now(), log: quiet };
	const options = { maxKeys: keys + 50, explain: false, matches: () => false };
	for (const [title, user] of [
		['50 rules in ten tenants', 'ann'],
		[`${keys} keys`, 'ben'],
	] as const) {
		const about = { user: { key: user }, action: 'read', resource: { type: 'document' } };
		const filtered = () => runToEnd(filterRows(context, about, options));
		const filter: Filter = measured(`  ${title}: filter`, filtered);
		console.log(`  ${title}: ${(JSON.stringify(filter).length / 1024).toFixed(1)} KiB`);
	}
}
