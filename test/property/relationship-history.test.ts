import { deepStrictEqual, strictEqual } from 'node:assert';
import test from 'ava';
import fc from 'fast-check';
import { document } from '../../compiler/index.js';
import { parseManifest, parsePatches } from '../../src/bundle.js';
import { Engine } from '../../src/pdp/engine.js';
import { readContents } from '../support/contents.js';
import type { Paginated } from '../support/listed.js';
import { newPlace, type Place } from '../support/management.js';
import { type Stack, startStack } from '../support/stack.js';
import { askOpa, type Bundle, bundleData, bundleModule, snapshot, stepFrom } from './feed.js';
import { decide, patched } from './oracle.js';
import { answered, type Question } from './questions.js';
import { type GroupLists, RelationshipBooks } from './relationship-books.js';
import { send } from './relationship-requests.js';
import { history, universe } from './relationship-wishes.js';
import { writtenLine } from './relationship-writes.js';

/** Random histories of relationships and groups over HTTP, held against books kept aside, the oracle, and stock OPA. */

let stack: Stack;
test.before(async () => {
	stack = await startStack();
});
test.after.always(() => stack?.stop());

/** How often something happens at least in a run that tests something. */
const mustHappen = {
	accepted: 200,
	refused: 40,
	'a step by delta': 3,
	'a step by policy': 3,
	'a check was answered allow': 8,
	'a check was answered no_permission': 2,
};

test('after any history of relationships and groups, patches, decisions and lists are what the books say', async (t) => {
	t.timeout(600_000);
	const told = new Map<string, number>();
	const tell = (what: string) => told.set(what, (told.get(what) ?? 0) + 1);
	await fc.assert(
		fc.asyncProperty(history, async (all) => {
			const site = { url: stack.api.listening.url, store: stack.api.store };
			const place = await newPlace(site, stack.organization);
			const books = new RelationshipBooks();
			let past = await held(await snapshot(place, ''));
			let revision = Number(parseManifest(past.bundle.files).revision);
			for (const [index, writes] of all.entries()) {
				for (const entry of writes) {
					const { accepted, changes } = books.enter(entry);
					const answer = await send(place, entry);
					const said = `${writtenLine(entry)} was answered ${answer.status} ${JSON.stringify(answer.body)}`;
					strictEqual(answer.status < 300, accepted, said);
					strictEqual(answer.status < 500, true, said);
					// Revisions are gapless, and a write that changes nothing has none of its own.
					revision += changes ? 1 : 0;
					if (accepted) strictEqual(answer.revision, revision, said);
					const outcome = !accepted ? 'refused' : changes ? 'accepted' : 'changed nothing';
					for (const what of [outcome, `${entry.kind} ${outcome}`]) tell(what);
				}
				past = await look(place, books, past, { tell, name: `look ${index + 1}` });
			}
			const queries = bookQuestions(books);
			const inOpa = await askOpa(t, await snapshot(place, '/rego'), queries);
			deepStrictEqual(answered(queries, inOpa), expectedAnswers(books, queries), 'opa eval = the oracle');
		}),
		// Without shrinking, which would take minutes over HTTP.
		{ numRuns: Number(process.env['HISTORIES'] ?? 10), endOnFailure: true, includeErrorInReport: true },
	);
	for (const [what, least] of Object.entries(mustHappen)) t.true((told.get(what) ?? 0) >= least, `too few: ${what}`);
	t.log([...told].map(([what, number]) => `${what}: ${number}`).sort());
});

/** A bundle, and an engine that holds it. */
interface Past {
	readonly bundle: Bundle;
	readonly engine: Engine;
}

async function held(bundle: Bundle): Promise<Past> {
	const data = bundle.files.get('data.json') as Uint8Array;
	return { bundle, engine: await Engine.load(await bundleModule(bundle), data) };
}

interface Looking {
	/** Counts that something happened. */
	readonly tell: (what: string) => void;
	/** What a failure calls this look. */
	readonly name: string;
}

/** Looks at everything: what leads here from the last look, the data, decisions and lists. Returns the present. */
async function look(place: Place, books: RelationshipBooks, past: Past, { tell, name }: Looking): Promise<Past> {
	const newest = await held(await snapshot(place, ''));
	const data = bundleData(newest.bundle);
	deepStrictEqual(
		data,
		JSON.parse(JSON.stringify(document(books.model()))),
		`${name}: the snapshot is what the books say`,
	);
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
	const codes = queries.map((query) => newest.engine.code(query as Parameters<Engine['code']>[0]));
	deepStrictEqual(answered(queries, codes), expected, `${name}: WASM = the oracle`);
	for (const code of new Set(codes)) tell(`a check was answered ${code}`);
	const contents = (await readContents(place)).filter((line) => !line.startsWith('resource_attribute __user:'));
	deepStrictEqual(contents, books.contents(), `${name}: the lists are what the books say`);
	for (const group of books.groups())
		deepStrictEqual(await readGroupLists(place, group), books.group(group), `${name}: ${group}`);
	return newest;
}

/** Every user, action and instance together, each in its own tenant; with one action, in another one too. */
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

async function readGroupLists({ http, schema }: Place, group: string): Promise<GroupLists> {
	const list = async (part: string) => {
		const path = `${schema}/groups/${encodeURIComponent(group)}/${part}?per_page=100`;
		return (await http.get<Paginated>(path)).body.data;
	};
	const groups = async (part: string) =>
		(await list(part)).map((row) => `${row['group_resource_type_key']}:${row['group_instance_key']}`).sort();
	return {
		users: (await list('users')).map(({ key }) => String(key)).sort(),
		roles: (await list('roles')).map(({ resource_instance, role }) => `${resource_instance}#${role}`).sort(),
		children: await groups('children'),
		parents: await groups('parents'),
	};
}
