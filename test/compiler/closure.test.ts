// @alone

/** Closures and walks of cycles find all sources, and end on every graph. */
import test from 'ava';
import fc from 'fast-check';
import { computeClosures, relatedObjects } from '../../compiler/data/closure.js';
import { compilePolicy, documentBytes } from '../../compiler/index.js';
import type { Model, Relationship, Resource, Schema } from '../../compiler/model.js';
import { wasmEngine } from './engine.js';

const named = (key: string) => ({ key, name: key, description: null });

/**
 * Returns a schema in which viewers of a folder can view the folders inside. If `conditional`, this applies only to
 * folders without direct assignments.
 */
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
	return { condition_sets: [], set_rules: [], resources: [folder], roles: [] };
}

function parent(child: string, folder: string): Relationship {
	return { type: 'folder', instance: child, relation: 'parent', subject_type: 'folder', subject: folder };
}

/** Returns a chain of folders with folder `0` at the top. Each folder is inside the previous folder. */
function chain(length: number): readonly Relationship[] {
	return Array.from({ length: length - 1 }, (_, index) => parent(`${index + 1}`, `${index}`));
}

/**
 * Returns levels of converging folders with folder `0` at the top. Each level has two folders, and each folder is
 * inside both folders of the level above.
 */
function diamonds(depth: number): readonly Relationship[] {
	const level = (number: number) => (number === 0 ? ['0'] : [`${number}`, `${number}'`]);
	return Array.from({ length: depth }, (_, index) =>
		level(index + 1).flatMap((child) => level(index).map((folder) => parent(child, folder))),
	).flat();
}

/** Returns the number of source folders for each folder with at least one source folder. */
function sizes(relationships: readonly Relationship[]): ReadonlyMap<string, number> {
	return new Map(
		computeClosures(folders(false), relationships, relatedObjects(relationships)).map(({ key, sources }) => [
			key,
			sources.reduce((size, { keys }) => size + keys.size, 0),
		]),
	);
}

test('a closure in a chain of 1,000 folders contains all ancestors', (t) => {
	const found = sizes(chain(1000));
	t.is(found.size, 999);
	t.true([...found].every(([key, size]) => size === Number(key)));
});

test('22 levels of converging folders have four million paths, but the largest closure contains 43 folders', (t) => {
	const found = sizes(diamonds(22));
	t.is(found.size, 44);
	t.true([...found].every(([key, size]) => size === 2 * Number.parseInt(key, 10) - 1));
});

test('a closure in a ring contains all other folders', (t) => {
	const found = sizes([...chain(100), parent('0', '99')]);
	t.deepEqual([...new Set(found.values())], [99]);
	t.is(found.size, 100);
	t.deepEqual(sizes([parent('0', '0')]), new Map(), 'a role derived only from itself has no closure');
});

test('only the requested closures are computed, for existing and missing instances', (t) => {
	const of = ['2', 'none'].map((key) => ({ type: 'folder', key }));
	const found = computeClosures(folders(false), chain(4), [...of, { type: 'none', key: '2' }]);
	t.deepEqual(
		found.map(({ type, role, key, sources }) => ({
			type,
			role,
			key,
			above: [...(sources[0]?.keys.keys() ?? [])].sort(),
		})),
		[{ type: 'folder', role: 'viewer', key: '2', above: ['0', '1'] }],
	);
});

test('a derivation that an assignment can block has no closure', (t) => {
	t.deepEqual(computeClosures(folders(true), chain(3), relatedObjects(chain(3))), []);
});

const graphs = {
	'a chain of 1,000': { relationships: chain(1000), lowest: '999', middle: '500' },
	'a diamond of depth 22': { relationships: diamonds(22), lowest: '22', middle: null },
	'a ring of 500': { relationships: [...chain(500), parent('0', '499')], lowest: '499', middle: '250' },
} as const;

/** Returns a function that asks an engine about the passed relationships and assignments. */
async function asker(conditional: boolean) {
	const schema = folders(conditional);
	const engine = await wasmEngine(compilePolicy(schema).policy ?? []);
	return (relationships: readonly Relationship[], assigned: readonly (readonly [user: string, key: string])[]) => {
		const keys = new Set(['0', 'apart', ...relationships.flatMap(({ instance, subject }) => [instance, subject])]);
		const facts: Model['facts'] = {
			user_attributes: [],
			instance_attributes: [],
			users: [...new Set(assigned.map(([user]) => user))],
			tenants: [{ key: 'acme', attributes: {} }],
			role_assignments: [],
			instances: [...keys].map((key) => ({ type: 'folder', key, tenant: 'acme' })),
			instance_assignments: assigned.map(([user, instance]) => ({ user, role: 'viewer', type: 'folder', instance })),
			relationships,
		};
		engine.setData(documentBytes({ schema, facts }));
		return (user: string, key: string) =>
			engine.ask('regolith/check/code', {
				user: { key: user },
				action: 'read',
				resource: { type: 'folder', tenant: 'acme', key },
			});
	};
}

for (const [name, { relationships, lowest, middle }] of Object.entries(graphs)) {
	for (const conditional of [false, true]) {
		test(`a viewer of the top folder views the lowest folder in ${name}, by ${conditional ? 'a walk' : 'closures'}`, async (t) => {
			t.timeout(600_000);
			const assigned = [['top', '0'] as const, ['other', 'apart'] as const];
			const ask = await asker(conditional);
			const code = ask(relationships, assigned);
			t.is(code('top', lowest), 'allow');
			t.is(code('other', lowest), 'no_graph_roles');
			if (middle !== null) {
				const broken = relationships.filter(({ instance }) => instance !== middle);
				t.is(ask(broken, assigned)('top', lowest), 'no_graph_roles');
			}
		});
	}
}

/** Chains of folders with some links back and across, and a user with assignments on some of the folders. */
const tangle = fc.record({
	length: fc.integer({ min: 100, max: 300 }),
	extra: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 40 }),
	missing: fc.array(fc.nat(), { maxLength: 2 }),
	assigned: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
});

test('long walks agree with a plain search', async (t) => {
	t.timeout(600_000);
	const ask = await asker(true);
	fc.assert(
		fc.property(tangle, ({ length, extra, missing, assigned }) => {
			const gone = new Set(missing.map((number) => `${number % length}`));
			const relationships = [
				...chain(length).filter(({ instance }) => !gone.has(instance)),
				...extra.map(([child, folder]) => parent(`${child % length}`, `${folder % length}`)),
			];
			const held = new Set(assigned.map((number) => `${number % length}`));
			const code = ask(
				relationships,
				[...held].map((key) => ['ann', key] as const),
			);
			const found = new Set(held);
			for (const key of found) {
				for (const { instance, subject } of relationships) {
					if (subject === key) found.add(instance);
				}
			}
			const keys = [...new Set(relationships.map(({ instance }) => instance))];
			t.deepEqual(
				keys.filter((key) => code('ann', key) === 'allow'),
				keys.filter((key) => found.has(key)),
			);
		}),
		{ numRuns: 5 },
	);
});
