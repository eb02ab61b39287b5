import test from 'ava';
import { apiDocument, decisionPointDocument, type Tree } from '../support/documents.js';

/** Both OpenAPI documents describe all their parts: schemas, fields, parameters, headers and tags. */

interface Place {
	readonly at: string;
	readonly value: Tree;
}

/** Yields every object in a tree, with its place. */
function* objects(value: unknown, at: string): Generator<Place> {
	if (typeof value !== 'object' || value === null) return;
	if (!Array.isArray(value)) yield { at, value: value as Tree };
	for (const [name, member] of Object.entries(value)) {
		// Examples may have any fields.
		if (name !== 'example' && name !== 'default') yield* objects(member, `${at}/${name}`);
	}
}

function isTree(value: unknown): value is Tree {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Yields the places that need a description, because readers of the document or of a generated client see them. */
function* describedPlaces(document: Tree): Generator<Place> {
	const components = document['components'] as { readonly [kind: string]: Tree };
	for (const [kind, members] of Object.entries(components)) {
		for (const [name, value] of Object.entries(members)) yield { at: `${kind}/${name}`, value: value as Tree };
	}
	for (const { at, value } of objects(document, '')) {
		if (isTree(value['properties']) && !at.endsWith('/properties')) {
			for (const [name, member] of Object.entries(value['properties'])) {
				yield { at: `${at}/properties/${name}`, value: member as Tree };
			}
		}
		for (const list of [value['parameters'], value['tags']]) {
			for (const item of Array.isArray(list) ? list : []) {
				if (isTree(item)) yield { at: `${at}/${String(item['name'])}`, value: item };
			}
		}
	}
}

/** Returns a place's description, or the description of the named schema that it refers to. */
function description(document: Tree, { value }: Place): string {
	const own = value['description'];
	if (typeof own === 'string') return own;
	const [, name = ''] = /^#\/components\/schemas\/(.*)$/.exec(String(value['$ref'] ?? '')) ?? [];
	const { schemas = {} } = document['components'] as { readonly schemas?: Readonly<Record<string, Tree>> };
	return String(schemas[name]?.['description'] ?? '');
}

for (const { name, make, atLeast } of [
	{ name: 'the API', make: apiDocument, atLeast: 900 },
	{ name: 'a decision point', make: decisionPointDocument, atLeast: 200 },
]) {
	test(`every part of the document of ${name} is described in complete sentences`, async (t) => {
		const document = await make();
		const places = [...describedPlaces(document)];
		t.true(places.length >= atLeast, String(places.length));
		const described = places.map((place) => ({ at: place.at, text: description(document, place) }));
		t.deepEqual(
			described.filter(({ text }) => text === '').map(({ at }) => at),
			[],
		);
		t.deepEqual(
			described.filter(({ text }) => !/^["'`A-Z].*[.?!:)]$/s.test(text)),
			[],
		);
	});

	test(`the document of ${name} names its own server, and links to the other document`, async (t) => {
		const document = await make();
		t.deepEqual(document['servers'], [{ url: '/', description: 'The server of this document.' }]);
		const { url } = document['externalDocs'] as { readonly url: string };
		t.regex(url, /^http:\/\/127\.0\.0\.1:\d+\/docs$/);
	});
}
