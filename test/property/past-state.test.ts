// @both

import test from 'ava';
import fc from 'fast-check';
import { runToEnd, type Steps } from '../../compiler/steps.js';
import { parseManifest } from '../../src/bundle/bundle.js';
import { answerExplanation, restoreState } from '../../src/impact/answer-explanation.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import type { EngineAndIndex } from '../../src/pdp/follow/load-snapshot.js';
import { pastState } from '../../src/publish/past-state.js';
import { PolicyStore } from '../../src/store/policy/policy-store.js';
import { withoutOrder } from '../compiler/engine.js';
import { newPlace, type Place } from '../support/management.js';
import { type Stack, shareStack } from '../support/stack.js';
import { draws, leastDrawn } from '../support/tier.js';
import { type Bundle, bundleModule, snapshot } from './feed.js';
import { RelationshipBooks } from './relationship-books.js';
import { send } from './relationship-requests.js';
import { chapter, fulfilled, opening, universe, type Wish } from './relationship-wishes.js';
import type { Write } from './relationship-writes.js';

/** Earlier states: a restored state equals the original state, regardless of later changes. */

let stack: Stack;
test.before(async () => {
	stack = await shareStack();
});
test.after.always(() => stack?.stop());

/** Writes to users, tenants and tenant roles, which relationship histories do not contain. */
const otherWrites: readonly (readonly [method: string, path: string, body?: object])[] = [
	['POST', 'facts/users', { key: 'zoe', email: 'zoe@example.com', attributes: { level: 1, nested: { of: [null] } } }],
	['PATCH', 'facts/users/zoe', { first_name: 'Zoe', attributes: { level: 2 } }],
	['PATCH', 'facts/users/ann', { attributes: { level: 3 } }],
	['DELETE', 'facts/users/zoe'],
	['POST', 'facts/tenants', { key: 'toString', name: 'T', attributes: { level: 1 } }],
	['PATCH', 'facts/tenants/toString', { attributes: {} }],
	['DELETE', 'facts/tenants/toString'],
	['POST', 'facts/role_assignments', { user: 'zoe', role: 'member', tenant: 'toString' }],
	['POST', 'facts/role_assignments', { user: 'zoe', role: 'guest', tenant: 'toString' }],
	[
		'POST',
		'facts/role_assignments',
		{ user: 'ann', role: 'member', tenant: 'default', expires_at: '2999-01-01T00:00:00Z' },
	],
	['PATCH', 'schema/roles/member', { permissions: [] }],
	['DELETE', 'facts/role_assignments', { user: 'ann', role: 'member', tenant: 'default' }],
	['DELETE', 'facts/role_assignments', { user: 'zoe', role: 'guest', tenant: 'toString' }],
	['DELETE', 'schema/roles/guest'],
	['POST', 'schema/roles', { key: 'guest', name: 'Guest' }],
];

interface Chapter {
	readonly wishes: readonly Wish[];
	readonly others: readonly number[];
}

const histories = fc.array(
	fc.record({
		wishes: chapter,
		others: fc.array(fc.nat({ max: otherWrites.length - 1 }), { maxLength: 2 }),
	}),
	{ minLength: 3, maxLength: 7 },
);

async function makeOther({ http, schema, facts }: Place, number: number): Promise<void> {
	const [method, path, body] = otherWrites[number] ?? ['GET', ''];
	await http.send(method, path.replace(/^schema/, schema).replace(/^facts/, facts), body);
}

/** The state at a revision. */
interface Look {
	readonly lineage: string;
	readonly token: string;
	readonly revision: number;
	readonly digest: string;
	readonly state: EngineAndIndex & { readonly engine: Engine };
}

async function look(place: Place): Promise<Look> {
	const bundle: Bundle = await snapshot(place, '');
	const manifest = parseManifest(bundle.files);
	const data = bundle.files.get('data.json') as Uint8Array;
	const state = { engine: await Engine.load(await bundleModule(bundle), data), facts: FactsIndex.read(data) };
	const { lineage, token, policy: digest } = manifest.metadata.regolith;
	return { lineage, token, revision: Number(manifest.revision), digest, state };
}

const run = async <T>(steps: Steps<T>): Promise<T> => runToEnd(steps);

/** Returns questions for every user, type, instance and action, also without an instance. */
function questions() {
	return [...universe.users, 'zoe', 'nobody'].flatMap((user) =>
		universe.types.flatMap((type) =>
			[undefined, ...universe.instances].flatMap((key) =>
				universe.actions.map((action) => ({
					user: { key: user },
					action,
					resource: { type, key, tenant: 'acme' },
				})),
			),
		),
	);
}

test('any earlier revision can be restored from the newest revision', async (t) => {
	t.timeout(7_200_000);
	const seen = { restored: 0, 'another policy': 0, 'of the same schema': 0, closures: 0, explained: 0, attempts: 0 };
	await fc.assert(
		fc.asyncProperty(histories, async (chapters: readonly Chapter[]) => {
			const site = { url: stack.api.listening.url, store: stack.api.store };
			const place = await newPlace(site, stack.organization);
			const policies = new PolicyStore(site.store.database.knex, () => []);
			const books = new RelationshipBooks();
			const writes: Write[] = [];
			const write = async (entry: Write) => {
				books.enter(entry);
				writes.push(entry);
				await send(place, entry);
			};
			for (const entry of opening) await write(entry);
			await place.http.post(`${place.schema}/roles`, { key: 'member', name: 'Member' });
			const looks = [await look(place)];
			for (const { wishes, others } of chapters) {
				for (const wish of wishes) await write(fulfilled(wish, books, writes));
				for (const number of others) await makeOther(place, number);
				looks.push(await look(place));
			}
			const newest = looks.at(-1) as Look;
			const held = { ...newest, pending: null };
			for (const { revision, digest, state } of looks) {
				const wanted = { revision, most: 5_000 };
				const past = await pastState(site.store, policies, place.id, wanted, held);
				if (past === null) throw new Error('the state was not restored, although no write ran concurrently');
				const restored = await restoreState(newest.state, past, run);
				const said = `revision ${revision} from ${newest.revision}`;
				t.deepEqual(restored.engine.dump(), state.engine.dump(), said);
				seen.restored += Number(revision !== newest.revision);
				seen['another policy'] += Number(digest !== newest.digest);
				seen['of the same schema'] += Number(past.schema === null && revision !== newest.revision);
				const { regolith } = state.engine.dump() as { regolith: { facts: { closures: object } } };
				seen.closures += Number(Object.keys(regolith.facts.closures).length > 0);
				for (const [index, query] of questions().entries()) {
					if (index % 7 !== revision % 7) continue;
					const { key, ...named } = query.resource;
					const asked = { ...query, resource: key === undefined ? named : { ...named, key } };
					const question = { withFacts: true, query: asked, time: 0, revision, policyRevision: revision } as const;
					const [then, again] = [
						await answerExplanation(state, { ...question, past: null }, run),
						await answerExplanation(newest.state, { ...question, past }, run),
					];
					t.deepEqual(
						withoutOrder(again.result as never),
						withoutOrder(then.result as never),
						`${said}: ${JSON.stringify(asked)}`,
					);
					seen.explained += 1;
					const { attempts = [] } = again.result.debug as { attempts?: readonly object[] };
					seen.attempts += attempts.length;
					if (index > 60) break;
				}
			}
		}),
		{ numRuns: draws(12, 'HISTORIES') },
	);
	t.log(JSON.stringify(seen));
	for (const [what, number] of Object.entries(seen)) t.true(number >= leastDrawn(1), `${what}: ${number}`);
});
