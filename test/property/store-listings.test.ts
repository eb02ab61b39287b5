// @both

/** Listings and searches from the facts index equal the engine's results. */
import test from 'ava';
import fc from 'fast-check';
import { compile, document, documentBytes } from '../../compiler/index.js';
import type { ConditionSet, Json, Model, Patch } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { jsonMembers, valueAt } from '../../src/pdp/facts/json-members.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import { layeredModels } from '../compiler/layered-model.js';
import { modelsOfOneSchema } from '../compiler/model.js';
import { acme, quiet, resource } from '../pdp/environment.js';
import { draws, inRest, leastDrawn } from '../support/tier.js';
import { asJson, byEngine, compareListings, contextFor, same, withConditions } from './compare-listings.js';

/** Returns patches that turn one document's facts into another document's facts, entry by entry. */
function patchesBetween(from: Model, to: Model): readonly Patch[] {
	const [before, after] = [from, to].map((model) => valueAt(document(model), 'regolith', 'facts'));
	return [...new Set([before, after].flatMap((facts) => jsonMembers(facts).map(([table]) => table)))].flatMap(
		(table) => {
			const rows = [before, after].flatMap((facts) => jsonMembers(valueAt(facts, table)).map(([key]) => key));
			return [...new Set(rows)].map((key): Patch => {
				const [path, value] = [['regolith', 'facts', table, key], valueAt(after, table, key)];
				return value === undefined ? { op: 'remove', path } : { op: 'upsert', path, value };
			});
		},
	);
}

test('listings agree for random models, after random changes', async (t) => {
	t.timeout(7_200_000);
	let entries = 0;
	await fc.assert(
		fc.asyncProperty(fc.oneof(layeredModels(3), modelsOfOneSchema(3)), async (models) => {
			const [first] = models;
			if (first === undefined || !('policy' in compile(first))) return;
			const facts = FactsIndex.read(documentBytes(first));
			let before = first;
			for (const model of models) {
				facts.patch(patchesBetween(before, model));
				before = model;
				const context = await contextFor(model, facts);
				for (const time of [0, 1_500, context.time]) {
					const countDifference = () => t.fail('the index and the engine differ');
					entries += compareListings(t, { ...context, time, countDifference }, model);
				}
			}
		}),
		{ numRuns: draws(10, 'SCHEMAS') },
	);
	t.log({ entries });
	t.true(entries >= leastDrawn(501), `${entries} entries`);
});

const many = 6_000;
const set = (key: string, type: 'userset' | 'resourceset', conditions: Json): ConditionSet => ({
	key,
	name: key,
	description: null,
	type,
	resource: type === 'userset' ? null : 'document',
	parent: null,
	selects: { conditions },
});
const actions = ['read', 'write', ...Array.from({ length: 40 }, (_, index) => `action-${index}`)];
/** More instances than the initial capacity of the index's arrays, and more actions than a word has bits. */
const large: Model = {
	schema: {
		...acme.schema,
		resources: [resource('document', actions)],
		condition_sets: [
			set('seniors', 'userset', { 'user.level': { 'greater-than': 2 } }),
			set('own', 'resourceset', { 'resource.owner': { equals: { ref: 'user.key' } } }),
			set('old', 'resourceset', { 'resource.age': { 'greater-than': 90 } }),
		],
		set_rules: ['own', 'old'].flatMap((resource_set) =>
			['write', 'action-39'].map((action) => ({ user_set: 'seniors', resource_set, resource: 'document', action })),
		),
	},
	facts: {
		...acme.facts,
		user_attributes: [{ user: 'ann', attributes: { level: 3 } }],
		instances: Array.from({ length: many }, (_, index) => ({
			type: 'document',
			key: `d${index}`,
			tenant: index % 3 === 0 ? 'default' : 'acme',
		})),
		instance_attributes: Array.from({ length: many }, (_, index) => ({
			type: 'document',
			key: `d${index}`,
			attributes: { owner: index % 50 === 0 ? 'ann' : 'ben', age: index % 100 },
		})),
	},
};

inRest(`listings agree for ${many} instances`, async (t) => {
	const context = await contextFor(large);
	for (const key of ['ann', 'ben']) {
		const input = { user: { key }, resource_types: ['document'], context: withConditions };
		t.true(same(t, context, key, (by) => asJson(permissions(by, input))) > 600);
	}
});

inRest('after a sample differs from the index, the engine computes all listings until the next policy', async (t) => {
	const wrong: Model = {
		...large,
		facts: {
			...large.facts,
			role_assignments: [{ user: 'ben', role: 'editor', tenant: 'acme' }],
			user_attributes: [],
		},
	};
	const right = await contextFor(large);
	for (const listing of [
		(by: DecisionContext) =>
			asJson(permissions(by, { user: { key: 'ann' }, resource_types: ['document'], context: withConditions })),
		(by: DecisionContext) =>
			asJson(authorizedUsers(by, { action: 'read', resource: { type: 'document', key: 'd1', tenant: 'acme' } })),
	]) {
		let [differences, logged] = [0, 0];
		const context = {
			...right,
			facts: FactsIndex.read(documentBytes(wrong)),
			log: { ...quiet, error: () => (logged += 1) } as unknown as typeof quiet,
			countDifference: () => (differences += 1),
		};
		// Each attempt compares a random sample, so a single attempt may miss the difference.
		for (let attempt = 0; differences === 0 && attempt < 20; attempt += 1) runToEnd(listing(context));
		for (const _ of [1, 2]) {
			t.deepEqual(runToEnd(listing(context)), runToEnd(listing(byEngine(context))));
			t.deepEqual([differences, logged], [1, 1]);
		}
	}
});
