/** Compares listings and searches from the facts index with the engine's results. */
import type { ExecutionContext } from 'ava';
import { documentBytes } from '../../compiler/index.js';
import type { Json, Model } from '../../compiler/model.js';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import { searchResources, searchSubjects } from '../../src/pdp/authzen/search.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import { jsonMembers } from '../../src/pdp/facts/json-members.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { permissions } from '../../src/pdp/listing/permissions.js';
import { policyWasm, quiet } from '../pdp/environment.js';

export const withConditions = { enable_abac_user_permissions: true, enable_abac_authorized_users: true, level: 1 };
const sent = [{}, { attributes: { level: 1 } }, { attributes: { status: null, level: 2 } }];
const settings = { mode: 'edge', subjectTypes: new Set(['user']) } as const;

/** Returns the state of a decision point that has loaded a model. */
export async function contextFor(
	model: Model,
	facts = FactsIndex.read(documentBytes(model)),
): Promise<DecisionContext> {
	const engine = await Engine.load(await WebAssembly.compile(await policyWasm(model)), documentBytes(model));
	return { engine, facts, revision: 1, policyRevision: 1, time: Date.now(), log: quiet };
}

/** Lets the engine decide, as it does while its policy is older than the schema. */
export const byEngine = (context: DecisionContext): DecisionContext => ({ ...context, policyRevision: 0 });

const parsed = (chunks: readonly string[]): Json => JSON.parse(chunks.join('')) as Json;

/** Asserts that the facts index and the engine give the same listing. Returns the number of entries. */
export function same(
	t: ExecutionContext,
	context: DecisionContext,
	said: unknown,
	listing: (by: DecisionContext) => Steps<Json>,
) {
	const [one, other] = [context, byEngine(context)].map((by) => runToEnd(listing(by)));
	t.deepEqual(one, other, JSON.stringify(said));
	return jsonMembers(other).length;
}

/** Parses a listing. */
export function* asJson(chunks: Steps<readonly string[]>): Steps<Json> {
	return parsed(yield* chunks);
}

function* pages(search: (page: { limit: number; token?: string }) => ReturnType<typeof searchSubjects>): Steps<Json> {
	const found: string[] = [];
	for (let token: string | undefined; token !== ''; ) {
		const page: { found: readonly string[]; next?: string } = yield* search({ limit: 2, ...(token && { token }) });
		found.push(...page.found);
		token = page.next ?? '';
	}
	return Object.fromEntries(found.map((key) => [key, null]));
}

/** Compares all listings and searches of a model. Returns the total number of entries. */
export function compareListings(t: ExecutionContext, context: DecisionContext, { schema, facts }: Model): number {
	const types = schema.resources.map(({ key }) => key);
	let entries = 0;
	for (const [turn, key] of [...facts.users, 'nobody'].entries()) {
		const user = { key, ...sent[turn % sent.length] };
		for (const filter of [
			{},
			{ resource_types: [...types, '__tenant'] },
			{ resources: ['ia'], resource_types: types },
		]) {
			for (const asked of [{}, { context: withConditions }]) {
				const input = { user, ...filter, ...asked };
				entries += same(t, context, input, (by) => asJson(permissions(by, input)));
			}
		}
	}
	for (const [turn, { type, key, tenant }] of [...facts.instances, { type: types[0] ?? '', tenant: 'ta' }]
		.map((one) => ({ key: undefined, ...one }))
		.entries()) {
		const actions = schema.resources.find((one) => one.key === type)?.actions ?? [];
		for (const action of actions.map((one) => one.key)) {
			const object = { type, tenant, ...(key === undefined ? {} : { key }) };
			for (const asked of [{}, { context: withConditions }]) {
				const input = { action, resource: object, ...asked };
				entries += same(t, context, input, (by) => asJson(authorizedUsers(by, input)));
			}
			if (key === undefined) continue;
			const properties = { ...sent[turn % sent.length]?.attributes };
			const subject = { type: 'user', id: facts.users[turn % facts.users.length] ?? 'nobody', properties };
			const about = { action: { name: action }, context: withConditions };
			const who = { ...about, subject: { type: 'user', properties }, resource: { type, id: key } };
			entries += same(t, context, who, (by) => pages((page) => searchSubjects(by, { ...who, page }, settings)));
			const where = { ...about, subject, resource: { type, properties } };
			entries += same(t, context, where, (by) => pages((page) => searchResources(by, { ...where, page }, settings)));
		}
	}
	return entries;
}
