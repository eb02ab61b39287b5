import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { Model, Patch } from '../../compiler/model.js';
import { pageToken, readPageToken } from '../../src/pdp/listing/page-token.js';
import type { Answer } from '../support/client.js';
import { readCaseModel, serving } from './cases.js';
import { resource, step } from './environment.js';
import type { Served } from './served.js';

/**
 * AuthZEN searches find exactly the permitted evaluations, and the pages of a search together contain the whole result.
 */

interface Entity {
	readonly type: string;
	readonly id: string;
	readonly properties?: object;
}
interface FoundPage {
	readonly results: readonly { readonly id?: string; readonly type?: string; readonly name?: string }[];
	readonly page?: { readonly next_token: string };
}
interface Question {
	readonly subject: Entity;
	readonly action: { readonly name: string };
	readonly resource: Entity;
	readonly context?: object;
}

const subjectSearch = '/access/v1/search/subject';
const resourceSearch = '/access/v1/search/resource';
const actionSearch = '/access/v1/search/action';

/** Evaluates many questions, each only once. */
class Decisions {
	readonly #asked = new Map<string, Question>();
	readonly #permitted = new Set<string>();

	add(question: Question): void {
		this.#asked.set(JSON.stringify(question), question);
	}

	async ask({ http }: Served): Promise<void> {
		const questions = [...this.#asked];
		for (let start = 0; start < questions.length; start += 5_000) {
			const part = questions.slice(start, start + 5_000);
			const { body } = await http.post<{ evaluations: { decision: boolean }[] }>('/access/v1/evaluations', {
				evaluations: part.map(([, question]) => question),
			});
			for (const [index, [name]] of part.entries()) if (body.evaluations[index]?.decision) this.#permitted.add(name);
		}
	}

	permits(question: Question): boolean {
		const name = JSON.stringify(question);
		if (!this.#asked.has(name)) throw new Error(`nobody asked ${name}`);
		return this.#permitted.has(name);
	}

	get some(): boolean {
		return this.#permitted.size > 0 && this.#permitted.size < this.#asked.size;
	}
}

/** Additional fields in the subjects, resources and context of all questions. */
interface Circumstances {
	readonly title: string;
	readonly subject?: object;
	readonly resource?: object;
	readonly context?: object;
}

const circumstances: readonly Circumstances[] = [
	{ title: 'no properties' },
	{ title: 'a tenant', resource: { tenant: 'acme' } },
	{ title: 'a tenant in the context', context: { tenant: 'beta' } },
	{ title: 'a tenant that does not exist', resource: { tenant: 'nowhere' } },
	{ title: 'properties', subject: { title: 'manager', level: 5 }, resource: { status: 'draft', open: true } },
];

function entity(type: string, id: string, properties: object | undefined): Entity {
	return properties === undefined ? { type, id } : { type, id, properties };
}

async function compareSearches(t: ExecutionContext, model: Model, given: Circumstances): Promise<void> {
	const { schema, facts } = model;
	const served = await serving(t, model);
	const around = given.context === undefined ? {} : { context: given.context };
	const tenant = new Map(Object.entries({ ...given.context, ...given.resource })).get('tenant');
	const users = [...facts.users, 'nobody'];
	const kinds = schema.resources.map(({ key: type, actions }) => ({
		type,
		actions: [...actions.map(({ key }) => key), 'nothing'],
		instances: facts.instances.filter((instance) => instance.type === type),
	}));
	const question = (user: string, name: string, type: string, id: string): Question => ({
		subject: entity('user', user, given.subject),
		action: { name },
		resource: entity(type, id, given.resource),
		...around,
	});
	const decisions = new Decisions();
	for (const { type, actions, instances } of kinds) {
		for (const id of [...instances.map(({ key }) => key), 'unstored']) {
			for (const name of actions) for (const user of users) decisions.add(question(user, name, type, id));
		}
	}
	await decisions.ask(served);
	t.true(decisions.some || tenant === 'nowhere');
	const search = async (path: string, body: object) => {
		const answer = await served.http.post<FoundPage>(path, { ...body, ...around });
		t.deepEqual([answer.status, answer.revision, answer.body.page], [200, 7, undefined]);
		return answer.body.results;
	};
	const properties = (of: object | undefined) => (of === undefined ? {} : { properties: of });
	for (const { type, actions, instances } of kinds) {
		for (const user of users) {
			const subject = entity('user', user, given.subject);
			for (const name of actions) {
				const found = await search(resourceSearch, {
					subject,
					action: { name },
					resource: { type, ...properties(given.resource) },
				});
				const expected = instances
					.filter((instance) => tenant === undefined || instance.tenant === tenant)
					.map(({ key }) => key)
					.filter((id) => decisions.permits(question(user, name, type, id)))
					.sort();
				t.deepEqual(
					found,
					expected.map((id) => ({ type, id })),
					`${user} ${name} ${type}`,
				);
			}
			for (const id of [...instances.map(({ key }) => key), 'unstored']) {
				const found = await search(actionSearch, { subject, resource: entity(type, id, given.resource) });
				const expected = actions.filter((name) => decisions.permits(question(user, name, type, id))).sort();
				t.deepEqual(
					found,
					expected.map((name) => ({ name })),
					`${user} ${type}:${id}`,
				);
			}
		}
		for (const id of [...instances.map(({ key }) => key), 'unstored']) {
			for (const name of actions) {
				const found = await search(subjectSearch, {
					subject: { type: 'user', ...properties(given.subject) },
					action: { name },
					resource: entity(type, id, given.resource),
				});
				const expected = facts.users.filter((user) => decisions.permits(question(user, name, type, id))).sort();
				t.deepEqual(
					found,
					expected.map((user) => ({ type: 'user', id: user })),
					`${name} ${type}:${id}`,
				);
			}
		}
	}
}

for (const name of ['007-folders-and-documents', '009-condition-sets']) {
	for (const given of circumstances) {
		test(`searches find exactly the permitted evaluations, with ${given.title}: ${name}`, async (t) => {
			await compareSearches(t, await readCaseModel(name), given);
		});
	}
}

const people = Array.from({ length: 40 }, (_, index) => `u${index}`);
const books = Array.from({ length: 40 }, (_, index) => `b${index}`);
const verbs = Array.from({ length: 40 }, (_, index) => `v${index}`);

/** Every user has a tenant role that allows all actions on every second book. */
const shelf: Model = {
	schema: {
		condition_sets: [],
		set_rules: [],
		resources: [resource('book', verbs)],
		roles: [
			{
				key: 'reader',
				name: 'reader',
				description: null,
				permissions: verbs.map((action) => ({ resource: 'book', action })),
				extends: [],
			},
		],
	},
	facts: {
		users: people,
		tenants: ['acme', 'beta'].map((key) => ({ key, attributes: {} })),
		role_assignments: people.map((user) => ({ user, role: 'reader', tenant: 'acme' })),
		instances: books.map((key, index) => ({ type: 'book', key, tenant: index % 2 === 0 ? 'acme' : 'beta' })),
		user_attributes: [],
		instance_attributes: [],
		instance_assignments: [],
		relationships: [],
	},
};

const wholes = {
	[subjectSearch]: { subject: { type: 'user' }, action: { name: 'v1' }, resource: { type: 'book', id: 'b0' } },
	[resourceSearch]: { subject: { type: 'user', id: 'u1' }, action: { name: 'v1' }, resource: { type: 'book' } },
	[actionSearch]: { subject: { type: 'user', id: 'u1' }, resource: { type: 'book', id: 'b0' } },
};
const paths = Object.keys(wholes) as (keyof typeof wholes)[];

const nameOf = (one: FoundPage['results'][number]): string => one.id ?? one.name ?? '';
const names = ({ body }: Answer<FoundPage>): readonly string[] => body.results.map(nameOf);

test('the pages add up to the complete result at any page size', async (t) => {
	const { http } = await serving(t, shelf);
	const ask = (path: keyof typeof wholes, page?: object) =>
		http.post<FoundPage>(path, page === undefined ? wholes[path] : { ...wholes[path], page });
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(...paths),
			fc.array(fc.integer({ min: 1, max: 45 }), { minLength: 1, maxLength: 6 }),
			async (path, limits) => {
				const whole = names(await ask(path));
				t.deepEqual(whole, [...whole].sort());
				t.is(whole.length, path === resourceSearch ? 20 : 40);
				const found: string[] = [];
				let token: string | undefined;
				for (let turn = 0; token !== ''; turn += 1) {
					const limit = limits[turn % limits.length] ?? 1;
					const answer: Answer<FoundPage> = await ask(path, token === undefined ? { limit } : { limit, token });
					t.is(answer.status, 200);
					t.true(answer.body.results.length <= limit);
					found.push(...names(answer));
					token = answer.body.page?.next_token;
					t.is(token === '', found.length === whole.length);
				}
				t.deepEqual(found, whole);
			},
		),
		{ numRuns: 25 },
	);
});

test('a page token is valid only for its own request', async (t) => {
	const { http } = await serving(t, shelf);
	for (const path of paths) {
		const request: object = wholes[path];
		const first = await http.post<FoundPage>(path, { ...request, page: { limit: 3 } });
		t.deepEqual(Object.keys(first.body), ['page', 'results']);
		const token = first.body.page?.next_token ?? '';
		const next = (body: object, at: string = path) => http.post<unknown>(at, { ...body, page: { token } });
		t.is((await next(request)).status, 200, 'a different limit, or no limit');
		const reordered = Object.fromEntries(Object.entries(request).reverse());
		t.is((await next(reordered)).status, 200, 'the order of members does not matter');
		t.is((await next({ ...request, unknown: 1 })).status, 200, 'ignored members do not matter');
		const others: readonly object[] = [
			{ ...request, subject: { type: 'user', id: 'u2', properties: { a: 1 } } },
			{ ...request, subject: { type: 'identity', id: 'u1' } },
			{ ...request, resource: { type: 'book', id: 'b0', properties: { tenant: 'acme' } } },
			{ ...request, resource: { type: 'other', id: 'b0' } },
			{ ...request, context: { a: [1] } },
			{ ...request, context: {} },
			...('action' in request ? [{ ...request, action: { name: 'v2' } }] : []),
		];
		for (const other of others) {
			const refused = await next(other);
			t.is(refused.status, 400, JSON.stringify(other));
			t.regex(refused.body as string, /page\.token/);
		}
		for (const at of paths) {
			if (at !== path)
				t.is((await next({ ...wholes[subjectSearch], ...wholes[resourceSearch], ...wholes[at] }, at)).status, 400);
		}
		const cut = await http.post(path, { ...request, page: { token: token.slice(0, -1) } });
		t.is(cut.status, 400);
		t.is(
			(await http.post<FoundPage>(path, { ...request, page: { token: '' } })).body.results.length > 3,
			true,
			'no token',
		);
	}
});

test('page tokens can contain any key, and distinguish similar requests', (t) => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.string({ unit: 'grapheme' }), fc.jsonValue(), (request, last, other) => {
			const token = pageToken(request, last);
			t.is(readPageToken(token, structuredClone(request), 'token'), last);
			if (JSON.stringify(request) === JSON.stringify(other)) return;
			// Member order does not affect equality.
			if (pageToken(other, last) === token) t.deepEqual(other, request);
		}),
	);
	t.throws(() => readPageToken(pageToken({ a: 1 }, 'x'), [['a', 1]], 'token'));
	t.throws(() => readPageToken(pageToken({ a: 1 }, 'x'), ['object', ['a', 1]], 'token'));
	t.throws(() => readPageToken(pageToken([1], 'x'), ['list', 1], 'token'));
	t.throws(() => readPageToken(pageToken(JSON.parse('{"__proto__": 1}'), 'x'), {}, 'token'));
});

test('a write between two pages does not affect the remaining results', async (t) => {
	const { feed, replica, http } = await serving(t, shelf);
	const ask = (page: object) => http.post<FoundPage>(resourceSearch, { ...wholes[resourceSearch], page });
	const first = await ask({ limit: 5 });
	const whole = names(await ask({}));
	t.deepEqual(names(first), whole.slice(0, 5));
	// Changes the data between two pages. Removes the last result of the first page, adds a result before it and a result
	// after it, and removes a later result.
	const [last = '', , gone = ''] = whole.slice(4);
	const instances = ['regolith', 'facts', 'instances'];
	const patches: readonly Patch[] = [
		{ op: 'remove', path: [...instances, `book:${last}`] },
		{ op: 'remove', path: [...instances, `book:${gone}`] },
		{ op: 'upsert', path: [...instances, 'book:b'], value: 'acme' },
		{ op: 'upsert', path: [...instances, 'book:z'], value: 'acme' },
	];
	feed.publish({ revision: 8, snapshot: Buffer.from(''), step: await step({ base: 7, revision: 8, patches }) });
	await replica.reached(8);
	const rest = await ask({ token: first.body.page?.next_token });
	t.is(rest.revision, 8);
	t.deepEqual(names(rest), [...whole.slice(5).filter((id) => id !== gone), 'z']);
});

test('a search response has at most 1,000 results, even without paging', async (t) => {
	const most = 1_000;
	const many = Array.from({ length: most + 1 }, (_, index) => `b${String(index).padStart(4, '0')}`);
	const large = (keys: readonly string[]): Model => ({
		...shelf,
		facts: { ...shelf.facts, instances: keys.map((key) => ({ type: 'book', key, tenant: 'acme' })) },
	});
	const { http } = await serving(t, large(many));
	const request = wholes[resourceSearch];
	for (const page of [undefined, {}, { limit: most + 1 }]) {
		const { body } = await http.post<FoundPage>(resourceSearch, { ...request, page });
		t.is(body.results.length, most);
		const rest = await http.post<FoundPage>(resourceSearch, { ...request, page: { token: body.page?.next_token } });
		t.deepEqual(rest.body, { results: [{ type: 'book', id: 'b1000' }], page: { next_token: '' } });
	}
	const fits = await serving(t, large(many.slice(0, most)));
	const { body } = await fits.http.post<FoundPage>(resourceSearch, request);
	t.deepEqual([body.results.length, body.page], [most, undefined]);
});
