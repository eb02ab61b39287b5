/** Closures of circles: how far they reach, and that they end. */
import test from 'ava';
import { closuresOf, objectsOf } from '../../compiler/closure.js';
import { compilePolicy, documentBytes } from '../../compiler/index.js';
import type { Model, Relationship, Resource, Schema } from '../../compiler/model.js';
import { wasmEngine } from './engine.js';

const named = (key: string) => ({ key, name: key, description: null });

/** Folders whose viewers are those of their parents and, when `conditional`, only where nothing is assigned. */
function folders(conditional: boolean): Schema {
	const folder: Resource = {
		...named('folder'),
		actions: [named('read')],
		roles: [
			{
				...named('viewer'),
				permissions: ['read'],
				extends: [],
				derivations: [{ relation: 'parent', role: 'viewer', no_direct_roles_on_object: conditional }],
				no_direct_roles_on_object: false,
			},
		],
		relations: [{ ...named('parent'), subject: 'folder' }],
	};
	return { resources: [folder], roles: [] };
}

function parent(child: string, folder: string): Relationship {
	return { type: 'folder', instance: child, relation: 'parent', subject_type: 'folder', subject: folder };
}

/** Folder `0` at the top, and each next one in the one before. */
function chain(length: number): readonly Relationship[] {
	return Array.from({ length: length - 1 }, (_, index) => parent(`${index + 1}`, `${index}`));
}

/** Folder `0` at the top, and on each level below two folders that are in both folders of the level above. */
function diamonds(depth: number): readonly Relationship[] {
	const level = (number: number) => (number === 0 ? ['0'] : [`${number}`, `${number}'`]);
	return Array.from({ length: depth }, (_, index) =>
		level(index + 1).flatMap((child) => level(index).map((folder) => parent(child, folder))),
	).flat();
}

/** How many folders lead to each folder that any leads to. */
function sizes(relationships: readonly Relationship[]): ReadonlyMap<string, number> {
	return new Map(
		closuresOf(folders(false), relationships, objectsOf(relationships)).map(({ key, sources }) => [
			key,
			sources.reduce((size, { keys }) => size + keys.size, 0),
		]),
	);
}

test('in a chain of 1,000, all that is above leads to a folder', (t) => {
	const found = sizes(chain(1000));
	t.is(found.size, 999);
	t.true([...found].every(([key, size]) => size === Number(key)));
});

test('a diamond of depth 22 has four million ways and 43 folders above the lowest', (t) => {
	const found = sizes(diamonds(22));
	t.is(found.size, 44);
	t.true([...found].every(([key, size]) => size === 2 * Number.parseInt(key, 10) - 1));
});

test('in a ring everything leads to everything else', (t) => {
	const found = sizes([...chain(100), parent('0', '99')]);
	t.deepEqual([...new Set(found.values())], [99]);
	t.is(found.size, 100);
	t.deepEqual(sizes([parent('0', '0')]), new Map(), 'what leads to itself alone has no closure');
});

test('only the closures that are asked for are computed, whether the instance exists or not', (t) => {
	const of = ['2', 'none'].map((key) => ({ type: 'folder', key }));
	const found = closuresOf(folders(false), chain(4), [...of, { type: 'none', key: '2' }]);
	t.deepEqual(
		found.map(({ type, role, key, sources }) => ({ type, role, key, above: [...(sources[0]?.keys ?? [])].sort() })),
		[{ type: 'folder', role: 'viewer', key: '2', above: ['0', '1'] }],
	);
});

test('what an assignment can interrupt has no closure', (t) => {
	t.deepEqual(closuresOf(folders(true), chain(3), objectsOf(chain(3))), []);
});

const graphs = {
	'a chain of 1,000': { relationships: chain(1000), lowest: '999', middle: '500' },
	'a diamond of depth 22': { relationships: diamonds(22), lowest: '22', middle: null },
	'a ring of 500': { relationships: [...chain(500), parent('0', '499')], lowest: '499', middle: '250' },
} as const;

for (const [name, { relationships, lowest, middle }] of Object.entries(graphs)) {
	for (const conditional of [false, true]) {
		test(`${name} leads from its top to its lowest folder, ${conditional ? 'walked' : 'closed'}`, async (t) => {
			const schema = folders(conditional);
			const engine = await wasmEngine(compilePolicy(schema).policy ?? []);
			const keys = new Set(relationships.flatMap(({ instance, subject }) => [instance, subject]));
			const held = (user: string, instance: string) => ({ user, role: 'viewer', type: 'folder', instance });
			const facts: Model['facts'] = {
				users: ['top', 'none'],
				tenants: [{ key: 'acme', attributes: {} }],
				role_assignments: [],
				instances: [...keys].map((key) => ({ type: 'folder', key, tenant: 'acme' })),
				instance_assignments: [held('top', '0')],
				relationships,
			};
			const code = (user: string, key: string) =>
				engine.ask('regolith/check/code', {
					user: { key: user },
					action: 'read',
					resource: { type: 'folder', tenant: 'acme', key },
				});
			engine.setData(documentBytes({ schema, facts }));
			t.is(code('top', lowest), 'allow');
			t.is(code('none', lowest), 'no_graph_roles');
			if (middle !== null) {
				const broken = relationships.filter(({ instance }) => instance !== middle);
				engine.setData(documentBytes({ schema, facts: { ...facts, relationships: broken } }));
				t.is(code('top', lowest), 'no_graph_roles');
			}
		});
	}
}
