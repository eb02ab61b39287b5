// @apart @both

import { deepStrictEqual, strictEqual } from 'node:assert';
import test from 'ava';
import fc from 'fast-check';
import { document } from '../../compiler/index.js';
import { parseManifest, parsePatches } from '../../src/bundle/bundle.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import { GroupRoleRead } from '../../src/wire/schema/group.js';
import { readContents } from '../support/contents.js';
import type { Paginated } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';
import { type Stack, shareStack } from '../support/stack.js';
import { draws, leastDrawn } from '../support/tier.js';
import { askOpa, type Bundle, bundleData, bundleModule, snapshot, stepFrom } from './feed.js';
import { decide, patched } from './oracle.js';
import { answered, type Question } from './questions.js';
import { type GroupLists, RelationshipBooks } from './relationship-books.js';
import { send } from './relationship-requests.js';
import { chapter, fulfilled, opening, universe, type Wish } from './relationship-wishes.js';
import { type Write, writtenLine } from './relationship-writes.js';

/**
 * Random histories of relationships and groups over HTTP. The results are compared with separate books, the oracle, and
 * stock OPA.
 */

let stack: Stack;
test.before(async () => {
	stack = await shareStack();
});
test.after.always(() => stack?.stop());

/** Minimum event counts for a meaningful run. */
const mustHappen = {
	accepted: 200,
	refused: 20,
	'a step by delta': 3,
	'a step by policy': 3,
	'a check was answered allow': 8,
	'a check was answered no_permission': 2,
};

test('after any history of relationships and groups, patches, decisions and lists agree with the model', async (t) => {
	t.timeout(7_200_000);
	const told = new Map<string, number>();
	const tell = (what: string) => told.set(what, (told.get(what) ?? 0) + 1);
	await fc.assert(
		fc.asyncProperty(histories, async (chapters) => {
			const site = { url: stack.api.listening.url, store: stack.api.store };
			const place = await newPlace(site, stack.organization);
			const past = await held(await snapshot(place, ''));
			const revision = Number(parseManifest(past.bundle.files).revision);
			const expected: Expected = { books: new RelationshipBooks(), writes: [], revision };
			for (const entry of opening) await enter(entry, expected, { place, tell });
			await fc.asyncModelRun(() => ({ model: expected, real: { place, past, tell } }), chapters);
			const queries = bookQuestions(expected.books);
			const inOpa = await askOpa(t, await snapshot(place, '/rego'), queries);
			deepStrictEqual(answered(queries, inOpa), expectedAnswers(expected.books, queries), 'opa eval = the oracle');
		}),
		{ numRuns: draws(10, 'HISTORIES') },
	);
	for (const [what, least] of Object.entries(mustHappen))
		t.true((told.get(what) ?? 0) >= leastDrawn(least), `too few: ${what}`);
	t.log([...told].map(([what, number]) => `${what}: ${number}`).sort());
});

/** Expected environment state: its books, the writes entered in them, and its revision. */
interface Expected {
	readonly books: RelationshipBooks;
	readonly writes: Write[];
	revision: number;
}

/** The environment to write to, and counters for events. */
interface Written {
	readonly place: Place;
	/** Counts an event. */
	readonly tell: (what: string) => void;
}

/** The environment, and its state at the last comparison. */
interface Real extends Written {
	past: Past;
}

/**
 * Returns a command that sends the writes for these wishes and then compares everything. Also sends writes that must be
 * refused.
 */
function chapterCommand(wishes: readonly Wish[]): fc.AsyncCommand<Expected, Real> & fc.WithCloneMethod<unknown> {
	const lines: string[] = [];
	return {
		check: () => true,
		run: async (expected, real) => {
			for (const wish of wishes) {
				const entry = fulfilled(wish, expected.books, expected.writes);
				lines.push(writtenLine(entry));
				await enter(entry, expected, real);
			}
			const name = `after ${lines.at(-1)}`;
			lines.push('-- comparison');
			real.past = await look(expected.books, real, name);
		},
		toString: () => lines.map((line) => `\n\t${line}`).join(''),
		// The write for a wish depends on earlier writes, so each run has its own lines.
		[fc.cloneMethod]: () => chapterCommand(wishes),
	};
}

async function enter(entry: Write, expected: Expected, { place, tell }: Written): Promise<void> {
	const { accepted, changes } = expected.books.enter(entry);
	expected.writes.push(entry);
	const answer = await send(place, entry);
	const said = `${writtenLine(entry)} was answered ${answer.status} ${JSON.stringify(answer.body)}`;
	strictEqual(answer.status < 300, accepted, said);
	strictEqual(answer.status < 500, true, said);
	// Revisions have no gaps, and a write without changes creates none.
	expected.revision += changes ? 1 : 0;
	if (accepted) strictEqual(answer.revision, expected.revision, said);
	const outcome = !accepted ? 'refused' : changes ? 'accepted' : 'changed nothing';
	for (const what of [outcome, `${entry.kind} ${outcome}`]) tell(what);
}

/** Path to replay a counterexample, as named in its report. */
const replayPath = process.env['TEST_REPLAY_PATH'];

const histories = fc.commands([chapter.map(chapterCommand)], {
	maxCommands: 10,
	size: 'max',
	...(replayPath ? { replayPath } : {}),
});

/** A bundle loaded in an engine. */
interface Past {
	readonly bundle: Bundle;
	readonly engine: Engine;
}

async function held(bundle: Bundle): Promise<Past> {
	const data = bundle.files.get('data.json') as Uint8Array;
	return { bundle, engine: await Engine.load(await bundleModule(bundle), data) };
}

/**
 * Compares everything: the steps from the last comparison to the newest bundle, the data, the decisions and the lists.
 * Returns the newest bundle.
 */
async function look(books: RelationshipBooks, { place, past, tell }: Real, name: string): Promise<Past> {
	const newest = await held(await snapshot(place, ''));
	const data = bundleData(newest.bundle);
	deepStrictEqual(data, JSON.parse(JSON.stringify(document(books.model()))), `${name}: the snapshot equals the books`);
	const step = await stepFrom(place, past.bundle.etag);
	if (step !== null) {
		tell(`a step by ${parseManifest(step.files).metadata.regolith.kind}`);
		const patches = parsePatches(step.files);
		deepStrictEqual(patched(bundleData(past.bundle), patches), data, `${name}: snapshot + patches = later snapshot`);
		const moved = step.files.has('policy.wasm') ? await past.engine.fork(await bundleModule(step)) : past.engine;
		moved.patch(patches);
		deepStrictEqual(moved.dump(), newest.engine.dump(), `${name}: the same inside WASM memory`);
	}
	const queries = bookQuestions(books);
	const expected = expectedAnswers(books, queries);
	const codes = queries.map((query) => newest.engine.code({ ...query, time: 0 } as Parameters<Engine['code']>[0]));
	deepStrictEqual(answered(queries, codes), expected, `${name}: WASM = the oracle`);
	for (const code of new Set(codes)) tell(`a check was answered ${code}`);
	const contents = (await readContents(place)).filter((line) => !line.startsWith('resource_attribute __user:'));
	deepStrictEqual(contents, books.contents(), `${name}: the lists equal the books`);
	for (const group of books.groups())
		deepStrictEqual(await readGroupLists(place, group), books.group(group), `${name}: ${group}`);
	return newest;
}

/**
 * Returns questions for every combination of user, action and instance, with the instance's tenant. For a single
 * action, also returns questions with a different tenant.
 */
function bookQuestions(books: RelationshipBooks): readonly Question[] {
	const { instances } = books.model().facts;
	return [...universe.users, 'nobody'].flatMap((user) =>
		universe.types.flatMap((type) =>
			universe.instances.flatMap((key) => {
				const tenant = instances.find((row) => row.type === type && row.key === key)?.tenant ?? 'acme';
				const ask = (action: string, where: string) => ({
					user: { key: user },
					action,
					resource: { type, key, tenant: where },
				});
				const elsewhere = tenant === 'acme' ? 'default' : 'acme';
				return [...universe.actions.map((action) => ask(action, tenant)), ask('read', elsewhere)];
			}),
		),
	);
}

function expectedAnswers(books: RelationshipBooks, queries: readonly Question[]): readonly string[] {
	const model = books.model();
	return answered(
		queries,
		queries.map((query) => decide(model, query).code),
	);
}

function groupRoleName({ resource, resource_instance, role }: GroupRoleRead): string {
	return `${resource.key}:${resource_instance.key}#${role}`;
}

async function readGroupLists({ http, schema }: Place, group: string): Promise<GroupLists> {
	const list = async (part: string) => {
		const path = `${schema}/groups/${encodeURIComponent(group)}/${part}?per_page=100`;
		return (await http.get<Paginated>(path)).body.data;
	};
	const groups = async (part: string) =>
		(await list(part)).map((row) => `${row['group_resource_type_key']}:${row['group_instance_key']}`).sort();
	return {
		users: (await list('users')).map(({ key }) => String(key)).sort(),
		roles: (await list('roles')).map((role) => groupRoleName(GroupRoleRead.parse(role))).sort(),
		children: await groups('children'),
		parents: await groups('parents'),
	};
}
