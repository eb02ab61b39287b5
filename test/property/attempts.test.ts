// @both

/**
 * Attempt properties. Each attempt is sufficient and minimal: the check is allowed after all listed changes, but not
 * after only some of them.
 */

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { documentBytes } from '../../compiler/index.js';
import type { Attributes, ConditionSet, Json, Model, Schema } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import { findAttempts } from '../../src/pdp/attempt/attempts.js';
import type { EngineInput, Holdings } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { wasmEngine } from '../compiler/engine.js';
import { layeredModels } from '../compiler/layered-model.js';
import { modelsOfOneSchema, pick } from '../compiler/model.js';
import { noFacts } from '../support/no-facts.js';
import { draws, leastDrawn } from '../support/tier.js';
import { changed, changedQuery, listedChanges, onlyChain, partsOf, standing } from './changed-facts.js';
import { anyConditions, anySubject } from './conditions.js';
import { modelQuestions } from './model-questions.js';
import { decide } from './oracle.js';
import type { Query } from './query.js';
import { rego } from './questions.js';

/** Decision time. */
const time = 1_000;

/** Fact expiries. Most facts have none, some expire in the future, and some have expired. */
const expiries = [undefined, undefined, undefined, undefined, time + 1, time, time - 500];

/** Adds expiries to some facts. `numbers` selects the expiries. */
function expiring(model: Model, numbers: readonly number[]): Model {
	const { facts } = model;
	const ending = <T extends object>(rows: readonly T[], start: number): readonly T[] =>
		rows.map((row, index) => {
			const expires_at = pick(expiries, pick(numbers, index + start) ?? 0);
			return expires_at === undefined ? row : { ...row, expires_at };
		});
	return {
		...model,
		facts: {
			...facts,
			role_assignments: ending(facts.role_assignments, 0),
			instance_assignments: ending(facts.instance_assignments, 3),
			relationships: ending(facts.relationships, 5),
		},
	};
}

interface Seen {
	[what: string]: number;
}

/** Returns the part of the policy's reasons that attempts need: the attributes of the user and the resource. */
function reasonsFor({ facts }: Model, { user, resource }: Query) {
	const inTenant = facts.role_assignments.filter((row) => row.user === user.key);
	const roles = inTenant.filter((row) => row.tenant === resource.tenant).map(({ role }) => role);
	const stored = facts.user_attributes.find((row) => row.user === user.key)?.attributes;
	const ofInstance = facts.instance_attributes.find(({ type, key }) => type === resource.type && key === resource.key);
	const tenants = [...new Set(inTenant.map(({ tenant }) => tenant))].sort();
	const own = { key: user.key, roles: [...new Set(roles)].sort(), tenants };
	return {
		request: {
			user: { attributes: { ...stored, ...user.attributes, ...own } },
			resource: { attributes: { ...ofInstance?.attributes, ...resource.attributes } },
		},
	};
}

/** A check, with the model that predicts its decision. */
interface Asked {
	readonly query: Query;
	readonly stored: Model;
	/** The set of users that replaces the user. */
	readonly set?: { readonly key: string; readonly holdings: Holdings };
}

/** Key of a user who has only a set's role. */
const likeSet = 'uset';

/**
 * For each question about the user `ua`, returns a check about a set of users. The returned models contain a user with
 * only the set's role, who must get the same decision.
 */
function askedOfSets(stored: Model): readonly Asked[] {
	const { schema, facts } = stored;
	const sets = facts.instances.flatMap(({ type, key }) =>
		(schema.resources.find((own) => own.key === type)?.roles ?? [])
			.filter(({ computed }) => computed === undefined)
			.map((role) => ({ type, instance: key, role: role.key })),
	);
	const about = modelQuestions(stored).filter(({ user }) => user.key === 'ua');
	return about.flatMap((query, index): readonly Asked[] => {
		const set = pick(sets, index * 7);
		if (set === undefined) return [];
		const { type, instance, role } = set;
		const name = `${type}:${instance}`;
		const users = [...facts.users, likeSet];
		const instance_assignments = [...facts.instance_assignments, { user: likeSet, ...set }];
		return [
			{
				query: { ...query, user: { key: likeSet } },
				stored: { ...stored, facts: { ...facts, users, instance_assignments } },
				set: { key: `${name}#${role}`, holdings: { [type]: { [role]: { [name]: null } } } },
			},
		];
	});
}

/** Tests the attempts for all questions about a model: applies each subset of their changes, and decides again. */
function hold(t: ExecutionContext, model: Model, seen: Seen): void {
	const facts = FactsIndex.read(documentBytes(model));
	const now = standing(model, time);
	const asked = [...modelQuestions(model).map((query): Asked => ({ query, stored: now })), ...askedOfSets(now)];
	const files = new Map(rego(model).map(({ path, text }) => [path, text]));
	const count = (what: string) => {
		seen[what] = (seen[what] ?? 0) + 1;
	};
	for (const { query, stored, set } of asked) {
		const { tenant } = query.resource;
		if (typeof tenant !== 'string') continue;
		const { allow } = decide(stored, query);
		const context = { facts, revision: 1, policyRevision: 1, time };
		const input = { ...query, user: set ?? query.user, time } as unknown as EngineInput;
		const check = { input, allowed: allow, reasons: reasonsFor(stored, query) };
		const { attempts, truncated } = runToEnd(findAttempts(context, check));
		const said = JSON.stringify(query);
		t.true(attempts.length <= 50, said);
		const byTenant =
			set === undefined && facts.schema.tenantRolesThatGrant(query.resource.type, query.action).length > 0;
		if (allow || byTenant) {
			t.true(attempts.length > 0 || truncated, said);
		}
		for (const attempt of attempts) {
			const shown = `${said}: ${JSON.stringify(attempt)}`;
			t.is(attempt.passed, allow, shown);
			const text = files.get(attempt.policy.file) ?? '';
			t.true(text.includes(`package ${attempt.policy.package}\n`), shown);
			t.true(text.includes(`\n${attempt.policy.rule}`), shown);
			for (const step of attempt.chain) t.true(!('file' in step) || files.has(step.file ?? ''), shown);
			const changes = listedChanges(attempt);
			if (attempt.passed) {
				t.deepEqual(changes, [], shown);
				const alone = onlyChain(stored, query, attempt);
				t.true(decide(alone, query).allow, shown);
				t.true(decide(withStoredAssignments(stored, alone), query).allow, `${shown}, and no role blocks it`);
				count(`passed by ${attempt.by}${attempt.chain.length > 1 ? ', derived or joined' : ''}`);
				continue;
			}
			for (const part of partsOf(changes)) {
				const whole = part.length === changes.length;
				const asked = changedQuery(query, part);
				t.is(decide(changed(stored, part), asked).allow, whole, `${shown}: ${JSON.stringify(part)}`);
			}
			for (const change of set === undefined ? [] : changes) {
				count(`of a set, to ${change.kind}`);
				const changesHolder = 'fact' in change ? change.fact.fact === 'user' : change.attribute.startsWith('user.');
				t.false(changesHolder || change.kind === 'remove', shown);
			}
			for (const change of changes) count('fact' in change ? `to ${change.kind}: ${change.fact.fact}` : 'to change');
		}
		const lengths = attempts.map((attempt) => listedChanges(attempt).length);
		t.deepEqual(
			lengths,
			lengths.toSorted((left, right) => left - right),
		);
	}
}

/** Returns the model `alone` with all stored assignments on instances. */
function withStoredAssignments(stored: Model, alone: Model): Model {
	const { instance_assignments } = stored.facts;
	return { ...alone, facts: { ...alone.facts, instance_assignments } };
}

/**
 * Runs rounds of a property until each kind has occurred often enough, because rare kinds may not occur in a round.
 * Fails after ten rounds. Each round has its own seed, because `TEST_SEED` would repeat the draws.
 */
async function assertUntilSeen(
	t: ExecutionContext,
	seen: Seen,
	least: Seen,
	round: (seed: { readonly seed?: number }) => Promise<void> | void,
): Promise<void> {
	const { seed } = fc.readConfigureGlobal();
	const isRare = ([what, count]: readonly [string, number]) => (seen[what] ?? 0) < leastDrawn(count);
	for (let rounds = 0; rounds === 0 || (rounds < 10 && Object.entries(least).some(isRare)); rounds += 1) {
		await round(seed === undefined ? {} : { seed: seed + rounds });
	}
	t.deepEqual(Object.entries(least).filter(isRare), [], JSON.stringify(seen));
}

/** Minimum number of attempts and changes of each kind, so the property covers all kinds. */
const leastSeen: Seen = {
	'passed by role_in_tenant': 20,
	'passed by role_on_instance': 20,
	'passed by role_on_instance, derived or joined': 20,
	'passed by set_rule': 1,
	'to add: tenant': 20,
	'to add: user': 20,
	'to add: resource_instance': 20,
	'to add: role_assignment': 20,
	'to add: relationship_tuple': 20,
	'to remove: role_assignment': 1,
	'to change': 5,
	'of a set, to add': 20,
};

const withRules = modelsOfOneSchema(1).filter(([first]) => (first?.schema.set_rules.length ?? 0) > 0);

/**
 * Clears the grant conditions that compare user attributes. Otherwise, a change listed for a condition set could also
 * satisfy a grant condition, and the attempt would not be minimal.
 */
function withoutUserConditions({ schema, ...model }: Model): Model {
	const { grant_conditions } = schema;
	if (grant_conditions === undefined) return { ...model, schema };
	const always = grant_conditions.map((set) =>
		JSON.stringify(set.conditions).includes('"user.') ? { ...set, conditions: {} } : set,
	);
	return { ...model, schema: { ...schema, grant_conditions: always } };
}

test('attempts are sufficient and minimal', async (t) => {
	t.timeout(7_200_000);
	const seen: Seen = {};
	const numbers = fc.array(fc.nat({ max: 20 }), { minLength: 7, maxLength: 7 });
	const law = fc.property(fc.oneof(modelsOfOneSchema(1), layeredModels(1), withRules), numbers, (models, chosen) => {
		for (const model of models) hold(t, withoutUserConditions(expiring(model, chosen)), seen);
	});
	await assertUntilSeen(t, seen, leastSeen, (seed) => fc.assert(law, { numRuns: draws(60, 'SCHEMAS'), ...seed }));
});

/**
 * Returns a schema with a single type. For each pair of conditions, the type has an action, with a rule between a user
 * set and a resource set.
 */
function schemaOfPairs(pairs: readonly (readonly [user: Json, resource: Json])[]): Schema {
	const named = { name: 'Name', description: null };
	const set = (key: string, resource: string | null, conditions: Json): ConditionSet => {
		const type = resource === null ? 'userset' : 'resourceset';
		return { key, ...named, type, resource, parent: null, selects: { conditions } };
	};
	return {
		resources: [
			{ key: 'doc', ...named, actions: pairs.map((_, at) => ({ key: `a${at}`, ...named })), roles: [], relations: [] },
		],
		roles: [{ key: 'idle', ...named, permissions: [], extends: [] }],
		condition_sets: pairs.flatMap(([user, resource], at) => [
			set(`u${at}`, null, user),
			set(`r${at}`, 'doc', resource),
		]),
		set_rules: pairs.map((_, at) => ({
			user_set: `u${at}`,
			resource_set: `r${at}`,
			resource: 'doc',
			action: `a${at}`,
		})),
	};
}

/** Rewrites user conditions as resource conditions. */
function aboutResource(conditions: Json): Json {
	return JSON.parse(JSON.stringify(conditions).replaceAll('"user.', '"resource.')) as Json;
}

function withMember(whole: Json, [name, ...below]: readonly string[], value: Json): Json {
	if (name === undefined) return value;
	const isTable = typeof whole === 'object' && whole !== null && !Array.isArray(whole);
	const members = new Map<string, Json>(isTable ? Object.entries(whole) : []);
	return Object.fromEntries(members.set(name, withMember(members.get(name) ?? null, below, value)));
}

test('the listed comparisons are sufficient for any conditions', async (t) => {
	t.timeout(7_200_000);
	const seen = { passed: 0, changed: 0, several: 0 };
	const pairs = fc.array(fc.tuple(anyConditions, anyConditions.map(aboutResource)), { minLength: 40, maxLength: 40 });
	const subjects = fc.array(anySubject, { minLength: 8, maxLength: 8, size: 'max' });
	const law = fc.asyncProperty(pairs, subjects, async (conditions, asked) => {
		const schema = schemaOfPairs(conditions);
		const engine = await wasmEngine(rego({ schema, facts: noFacts }));
		for (const subject of asked) {
			const tenants = [{ key: 'acme', attributes: subject.tenant as Attributes }];
			const role_assignments = [{ user: 'ann', role: 'idle', tenant: 'acme' }];
			const bytes = documentBytes({ schema, facts: { ...noFacts, users: ['ann'], tenants, role_assignments } });
			engine.setData(bytes);
			const context = { facts: FactsIndex.read(bytes), revision: 1, policyRevision: 1, time };
			for (const at of conditions.keys()) {
				const input = {
					user: { key: 'ann', attributes: subject.user },
					action: `a${at}`,
					resource: { type: 'doc', tenant: 'acme', attributes: subject.resource },
					context: subject.context,
					time,
				};
				const allowed = engine.ask('regolith/check/code', input) === 'allow';
				const reasons = engine.ask('regolith/explain/sections', input);
				const check = { input: input as unknown as EngineInput, allowed, reasons };
				const { attempts } = runToEnd(findAttempts(context, check));
				const said = `${JSON.stringify(conditions[at])} of ${JSON.stringify(input)}`;
				if (allowed) t.deepEqual([attempts.length, attempts[0]?.passed], [1, true], said);
				seen.passed += Number(allowed);
				for (const attempt of attempts.filter(({ passed }) => !passed)) {
					const changes = listedChanges(attempt);
					seen.changed += 1;
					seen.several += Number(changes.length > 1);
					for (const part of partsOf(changes)) {
						const changedInput = part.reduce<Json>((before, change) => {
							if (change.kind !== 'change') throw new Error('no facts are missing');
							const [object = '', ...path] = change.attribute.split('.');
							const place = object === 'context' ? [object] : [object, 'attributes'];
							return withMember(before, [...place, ...path], change.value);
						}, input);
						const whole = part.length === changes.length;
						const code = engine.ask('regolith/check/code', changedInput);
						t.is(code === 'allow', whole, `${said}: ${JSON.stringify(attempt)}: ${JSON.stringify(part)}`);
					}
				}
			}
		}
	});
	await assertUntilSeen(t, seen, { passed: 11, changed: 11, several: 11 }, (seed) =>
		fc.assert(law, { numRuns: draws(2, 'SCHEMAS'), ...seed }),
	);
});
