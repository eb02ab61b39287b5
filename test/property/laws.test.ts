// @apart @both

import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { Loose } from '../support/client.js';
import { type Management, newPlace, type Place, startManagement } from '../support/management.js';
import { draws } from '../support/tier.js';
import { type Field, furnishLaws, type Kind, kinds } from './objects.js';

/**
 * Properties of reads and writes over HTTP, for objects of every kind with any contents. A repeated PUT changes
 * nothing. An empty PATCH, or a PATCH with the stored values, changes nothing. A PATCH changes only the fields in its
 * body. Keys, and ids in any spelling, name the same object.
 */

let management: Management;

test.before('start', async () => {
	management = await startManagement();
});

test.after.always('stop', async () => management.stop());

type Object = Loose & { readonly id: string; readonly key: string };

/** An object under test, with its path and the state at the last read. */
class Subject {
	constructor(
		readonly t: ExecutionContext,
		readonly place: Place,
		readonly kind: Kind,
		readonly path: string,
		public read: Object,
	) {}

	/** Sends a write that must change neither the object nor the revision. */
	async keeps(method: 'PATCH' | 'PUT', body: Loose, law: string): Promise<void> {
		const revision = await this.place.revision();
		const answer = await this.place.http.send<Object>(method, this.path, body);
		const said = `${law}: ${JSON.stringify(body)} was answered ${answer.status} ${JSON.stringify(answer.body)}`;
		this.t.is(answer.status, 200, said);
		this.t.deepEqual(answer.body, this.read, said);
		this.t.is(answer.revision, revision, said);
		this.t.is(await this.place.revision(), revision, said);
	}

	/** Sends a write that must give the fields these meanings, and change nothing else except the time. */
	async becomes(method: 'PATCH' | 'PUT', body: Loose, fields: Loose): Promise<void> {
		const revision = await this.place.revision();
		const answer = await this.place.http.send<Object>(method, this.path, body);
		const said = `${method} ${JSON.stringify(body)} was answered ${answer.status} ${JSON.stringify(answer.body)}`;
		this.t.is(answer.status, 200, said);
		const changes = !isDeepStrictEqual(fieldMeanings(this.kind, this.read), fields);
		this.t.deepEqual(fieldMeanings(this.kind, answer.body), fields, said);
		this.t.deepEqual(otherFields(this.kind, answer.body), otherFields(this.kind, this.read), said);
		this.t.is(answer.revision, revision + (changes ? 1 : 0), said);
		this.t.deepEqual((await this.place.http.get(this.path)).body, answer.body, 'the response equals the stored object');
		this.read = answer.body;
	}
}

/** Returns the meaning of the fields in a read object. */
function fieldMeanings({ fields }: Kind, read: Loose): Loose {
	return mapped(fields, ({ said }, name) => (said === undefined ? read[name] : said(read[name] as Loose)));
}

/** Returns all JSON fields except the kind's fields and the time. */
function otherFields({ fields }: Kind, read: Loose): Loose {
	return Object.fromEntries(Object.entries(read).filter(([name]) => name !== 'updated_at' && !(name in fields)));
}

/** Returns the meaning of the fields after a create or replace with this body. */
function meantBy({ fields }: Kind, body: Loose): Loose {
	return mapped(fields, (field, name) => (name in body ? meant(field, body[name]) : field.empty));
}

/** Returns the meaning of the fields after a PATCH. */
function patched({ fields }: Kind, before: Loose, body: Loose): Loose {
	return mapped(fields, (field, name) => {
		if (!(name in body) || (body[name] === null && field.null === 'keeps')) return before[name];
		return body[name] === null ? field.empty : meant(field, body[name]);
	});
}

function meant({ means }: Field, value: unknown): unknown {
	return means === undefined ? value : means(value as Loose);
}

function mapped(fields: Kind['fields'], change: (field: Field, name: string) => unknown): Loose {
	return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field, name)]));
}

/** Bodies to create or replace an object. */
function wholes({ fields }: Kind): fc.Arbitrary<Loose> {
	const requiredKeys = Object.keys(fields).filter((name) => fields[name]?.required);
	return fc.record(fieldValues(fields), { requiredKeys, noNullPrototype: true });
}

/** Bodies to change an object partially. */
function parts({ fields }: Kind): fc.Arbitrary<Loose> {
	const orNull = Object.entries(fieldValues(fields)).map(([name, values]) => [name, fc.option(values, { freq: 4 })]);
	return fc.record(Object.fromEntries(orNull), { requiredKeys: [], noNullPrototype: true });
}

function fieldValues(fields: Kind['fields']): Record<string, fc.Arbitrary<unknown>> {
	return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.values]));
}

/** An object's life. The object is created, read by its names, changed and replaced. */
interface Life {
	readonly key: string;
	readonly made: Loose;
	readonly changes: readonly Loose[];
	readonly replaced: Loose;
}

function lives(kind: Kind): fc.Arbitrary<Life> {
	return fc.record({
		key: fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/).filter((key) => key !== '__proto__'),
		made: wholes(kind),
		changes: fc.array(parts(kind), { minLength: 1, maxLength: 2 }),
		replaced: wholes(kind),
	});
}

let count = 0;

async function live(t: ExecutionContext, place: Place, kind: Kind, life: Life): Promise<void> {
	count += 1;
	const key = `${life.key}-${count}`;
	const { http } = place;
	const collection = kind.collection(place);
	const made = await http.post<Object>(collection, { key, ...kind.constants, ...life.made });
	t.is(made.status, 200, `${JSON.stringify(life.made)} returned ${JSON.stringify(made.body)}`);
	t.deepEqual(fieldMeanings(kind, made.body), meantBy(kind, life.made), 'the object is created as requested');
	const { id } = made.body;
	for (const name of [key, id, id.replaceAll('-', ''), id.toUpperCase()]) {
		t.deepEqual((await http.get(`${collection}/${name}`)).body, made.body, `get(${name})`);
	}

	const subject = new Subject(t, place, kind, `${collection}/${key}`, made.body);
	if (kind.methods.includes('PATCH')) {
		for (const change of life.changes) {
			await subject.keeps('PATCH', {}, 'PATCH with an empty body');
			await subject.keeps('PATCH', fieldMeanings(kind, subject.read), 'PATCH with the stored values');
			await subject.becomes('PATCH', change, patched(kind, fieldMeanings(kind, subject.read), change));
			await subject.keeps('PATCH', change, 'PATCH twice');
		}
	}
	if (kind.methods.includes('PUT')) {
		for (const body of [life.replaced, life.made]) {
			await subject.becomes('PUT', body, meantBy(kind, body));
			await subject.keeps('PUT', body, 'PUT twice');
			await subject.keeps('PUT', { key: 'another', ...body }, 'PUT with a different key in the body');
		}
	}
	t.is((await http.delete(subject.path)).status, 204);
	t.is((await http.get(`${collection}/${id}`)).status, 404);
}

for (const [name, kind] of Object.entries(kinds)) {
	test(`the properties hold for a ${name}`, async (t) => {
		const place = await newPlace(management, management.project);
		await furnishLaws(place);
		const numRuns = draws(12, 'LAWS');
		await fc.assert(
			fc.asyncProperty(lives(kind), (life) => live(t, place, kind, life)),
			{ numRuns },
		);
	});
}
