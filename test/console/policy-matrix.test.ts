import test from 'ava';
import fc from 'fast-check';
import type { Draft } from '../../src/console/model/draft/draft.js';
import { toggleDerivation, toggleGrant, toggleRule } from '../../src/console/model/matrix/matrix-edit.js';
import { isFolded, matrixView, withFold } from '../../src/console/model/matrix/matrix-view.js';
import {
	type CellReason,
	columnRole,
	type MatrixColumn,
	type PolicyMatrix,
	policyMatrix,
} from '../../src/console/model/matrix/policy-matrix.js';
import { readPolicySchema } from '../../src/console/model/matrix/policy-schema.js';
import {
	draftedObjects,
	readSchemaObjects,
	type SchemaObjects,
} from '../../src/console/model/matrix/schema-objects.js';

/** The policy matrix, computed from a schema and a draft. */

const derivedFrom = (role: string, on_resource: string, linked_by_relation: string) => {
	return { users_with_role: [{ role, on_resource, linked_by_relation }] };
};

/** Folders with documents. */
const schema = {
	resources: {
		document: {
			name: 'Document',
			actions: { read: {}, write: { name: 'Write down' } },
			relations: { parent: { name: 'Parent', subject_resource: 'folder' } },
			roles: {
				editor: {
					name: 'Editor',
					permissions: ['write'],
					extends: ['viewer'],
					granted_to: derivedFrom('owner', 'folder', 'parent'),
				},
				viewer: { name: 'Viewer', permissions: ['read'] },
			},
		},
		folder: {
			name: 'Folder',
			actions: { read: {} },
			relations: { within: { name: 'Within', subject_resource: 'folder' } },
			roles: { owner: { name: 'Owner', granted_to: derivedFrom('owner', 'folder', 'within') } },
		},
	},
	roles: {
		admin: { name: 'Admin', permissions: ['folder:read'], extends: ['staff'] },
		staff: { name: 'Staff', extends: ['guest'] },
		guest: { name: 'Guest', permissions: ['document:read'] },
	},
	condition_sets: {
		adults: { name: 'Adults', type: 'userset' },
		seniors: { name: 'Seniors', type: 'userset', parent: 'adults' },
		drafts: { name: 'Drafts', type: 'resourceset', resource: 'document' },
	},
	set_rules: [
		{ user_set: 'adults', permission: 'document:write', resource_set: 'drafts' },
		{ user_set: '__autogen_guest', permission: 'document:write', resource_set: '__autogen_document' },
	],
};

function matrixFrom(document: unknown, draft: Draft | null = null): PolicyMatrix {
	return policyMatrix(readPolicySchema(draftedObjects(readSchemaObjects(document), draft)));
}

function findColumn(matrix: PolicyMatrix, id: string): MatrixColumn {
	const found = matrix.columns.find((column) => column.id === id);
	if (found === undefined) throw new Error(`no column ${id}`);
	return found;
}

function cellAt(matrix: PolicyMatrix, id: string, permission: string) {
	const [resource = '', action = ''] = permission.split(':');
	return matrix.cell(findColumn(matrix, id), { resource, action });
}

const own: CellReason = { by: 'own' };
const [adultsRule, guestRule] = schema.set_rules.map((rule) => ({ by: 'rule' as const, rule, parent: null }));
const toEditor = { role: 'document:editor', relation: 'parent' };

const cells = [
	['role guest', 'document:read', 'granted', [own]],
	['role guest', 'document:write', 'condition', [guestRule]],
	['role guest', 'folder:read', 'none', []],
	['role staff', 'document:read', 'inherited', [{ by: 'extends', role: 'guest' }]],
	['role admin', 'document:read', 'inherited', [{ by: 'extends', role: 'guest' }]],
	['role admin', 'folder:read', 'granted', [own]],
	['resource_role document:viewer', 'document:write', 'none', []],
	['resource_role document:viewer', 'folder:read', 'apart', []],
	['resource_role document:editor', 'document:read', 'inherited', [{ by: 'extends', role: 'viewer' }]],
	['resource_role document:editor', 'document:write', 'granted', [own]],
	['resource_role folder:owner', 'document:write', 'derived', [{ by: 'derivation', steps: [toEditor], through: null }]],
	[
		'resource_role folder:owner',
		'document:read',
		'derived',
		[{ by: 'derivation', steps: [toEditor], through: 'viewer' }],
	],
	['resource_role folder:owner', 'folder:read', 'none', []],
	['user_set adults', 'document:write', 'condition', [adultsRule]],
	['user_set adults', 'document:read', 'none', []],
	['user_set seniors', 'document:write', 'inherited', [{ ...adultsRule, parent: 'adults' }]],
] as const;

for (const [column, permission, state, reasons] of cells) {
	test(`the state of ${permission} for ${column} is ${state}`, (t) => {
		const cell = cellAt(matrixFrom(schema), column, permission);
		t.is(cell.state, state);
		t.deepEqual(cell.reasons as unknown, reasons);
	});
}

test('columns are tenant roles, resource roles and user sets, sorted by key', (t) => {
	t.deepEqual(
		matrixFrom(schema).columns.map(({ id }) => id),
		[
			'role admin',
			'role guest',
			'role staff',
			'resource_role document:editor',
			'resource_role document:viewer',
			'resource_role folder:owner',
			'user_set adults',
			'user_set seniors',
		],
	);
});

test('a derivation over several resources is described in steps', (t) => {
	const team = {
		name: 'Team',
		actions: {},
		roles: { lead: { name: 'Lead' } },
	};
	const folder = {
		...schema.resources.folder,
		roles: { owner: { name: 'Owner', granted_to: derivedFrom('lead', 'team', 'run_by') } },
	};
	const matrix = matrixFrom({ ...schema, resources: { ...schema.resources, folder, team } });
	const { state, reasons } = cellAt(matrix, 'resource_role team:lead', 'document:write');
	t.is(state, 'derived');
	const steps = [{ role: 'folder:owner', relation: 'run_by' }, toEditor];
	t.deepEqual(reasons, [{ by: 'derivation', steps, through: null }]);
	t.deepEqual([...matrix.reach(findColumn(matrix, 'resource_role team:lead'))].sort(), ['document', 'folder', 'team']);
});

test('keys such as `constructor` are ordinary keys', (t) => {
	const text = `{"resources": {"__proto__": {"name": "P", "actions": {"constructor": {}, "__proto__": {}},
		"roles": {"toString": {"name": "T", "permissions": ["constructor"]}}}},
		"roles": {"__proto__": {"name": "R", "permissions": ["__proto__:__proto__"]}}}`;
	const matrix = matrixFrom(JSON.parse(text));
	t.is(cellAt(matrix, 'role __proto__', '__proto__:__proto__').state, 'granted');
	t.is(cellAt(matrix, 'role __proto__', '__proto__:constructor').state, 'none');
	t.is(cellAt(matrix, 'resource_role __proto__:toString', '__proto__:constructor').state, 'granted');
});

test('a malformed schema causes no error', (t) => {
	const law = fc.property(fc.jsonValue(), fc.constantFrom('resources', 'roles', 'set_rules'), (value, member) => {
		for (const document of [value, { [member]: value }, { resources: { a: value, b: { roles: { c: value } } } }]) {
			const matrix = matrixFrom(document);
			for (const column of matrix.columns) matrix.cell(column, { resource: 'a', action: 'read' });
		}
	});
	t.notThrows(() => fc.assert(law));
});

const resourceKeys = ['a', 'b', 'c'];
const actionKeys = ['read', 'write'];
const roleKeys = ['r', 's', 't'];
const setKeys = ['u', 'v'];

/** Generates a record with some of these keys. */
function keyedRecord<T>(keys: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
	return fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: keys.length });
}

const derivation = fc.record({
	role: fc.constantFrom(...roleKeys),
	on_resource: fc.constantFrom(...resourceKeys),
	linked_by_relation: fc.constantFrom('parent', 'owner'),
});
const permission = fc
	.tuple(fc.constantFrom(...resourceKeys), fc.constantFrom(...actionKeys))
	.map((keys) => keys.join(':'));
const rule = fc.record({
	user_set: fc.constantFrom('__autogen_r', ...setKeys),
	permission,
	resource_set: fc.constantFrom('__autogen_a', 'open'),
});
const byText = { selector: (value: unknown) => JSON.stringify(value) };

/** Generates a list member as in documents, in which an empty list is omitted. */
function listIn(name: string, item: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
	return fc
		.uniqueArray(item, { ...byText, maxLength: 3 })
		.map((items) => (items.length === 0 ? {} : { [name]: items }));
}

const rolePart = fc.tuple(
	listIn('permissions', fc.constantFrom(...actionKeys)),
	listIn('extends', fc.constantFrom(...roleKeys)),
);
const resourceRole = fc
	.tuple(rolePart, fc.option(listIn('users_with_role', derivation)))
	.map(([[permissions, parents], granted_to]) => {
		const derived = granted_to === null ? {} : { granted_to };
		return { name: 'Role', ...permissions, ...parents, ...derived };
	});
const tenantRole = fc
	.tuple(listIn('permissions', permission), listIn('extends', fc.constantFrom(...roleKeys)))
	.map(([permissions, parents]) => ({ name: 'Role', ...permissions, ...parents }));

const anySchema = fc.record({
	resources: keyedRecord(
		resourceKeys,
		fc.record({
			name: fc.constant('Resource'),
			actions: keyedRecord(actionKeys, fc.constant({})),
			roles: keyedRecord(roleKeys, resourceRole),
		}),
	),
	roles: keyedRecord(roleKeys, tenantRole),
	condition_sets: keyedRecord(setKeys, fc.constant({ name: 'Set', type: 'userset' })),
	set_rules: fc.uniqueArray(rule, { ...byText, maxLength: 4 }),
});

type Edit = (stored: SchemaObjects, draft: Draft) => Draft;

/**
 * Toggles a permission in a column, which is chosen by index from the columns that can have this permission. Does
 * nothing if there is no such column.
 */
const grantEdit = fc.tuple(fc.nat(), permission).map(
	([index, name]): Edit =>
		(stored, draft) => {
			const [resource = '', action = ''] = name.split(':');
			const { columns } = policyMatrix(readPolicySchema(draftedObjects(stored, draft)));
			const fitting = columns.filter(
				(one) => one.kind === 'role' || (one.kind === 'resource_role' && one.resource === resource),
			);
			const column = fitting[index % Math.max(fitting.length, 1)];
			return column === undefined ? draft : toggleGrant(stored, draft, column, { resource, action });
		},
);
const ruleEdit = rule.map(
	(wanted): Edit =>
		(stored, draft) =>
			toggleRule(stored, draft, wanted),
);
const derivationEdit = fc.tuple(fc.constantFrom(...resourceKeys), fc.constantFrom(...roleKeys), derivation).map(
	([resource, role, way]): Edit =>
		(stored, draft) =>
			toggleDerivation(stored, draft, `${resource}:${role}`, way),
);
const edit = fc.oneof(grantEdit, ruleEdit, derivationEdit);

const empty: Draft = { base_revision: 7, changes: [] };

test('reverting an edit leaves no change in the draft', (t) => {
	const law = fc.property(anySchema, fc.array(edit, { maxLength: 6 }), edit, (document, earlier, last) => {
		const stored = readSchemaObjects(document);
		const before = earlier.reduce((draft, one) => one(stored, draft), empty);
		const there = draftedObjects(stored, before);
		const after = draftedObjects(stored, last(stored, last(stored, before)));
		t.deepEqual(meaning(after), meaning(there));
		const taken = [...earlier].reverse().reduce((draft, one) => one(stored, draft), before);
		t.deepEqual(taken, empty, 'every edit was reverted');
		t.deepEqual(last(stored, last(stored, empty)), empty);
	});
	t.notThrows(() => fc.assert(law));
});

/** Returns the objects with their lists as sets, because the order of these lists has no meaning. */
function meaning(objects: SchemaObjects): ReadonlyMap<string, string> {
	const sorted = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map((item) => JSON.stringify(sorted(item))).sort();
		if (typeof value !== 'object' || value === null) return value;
		return Object.entries(value)
			.map(([name, member]) => [name, sorted(member)])
			.sort();
	};
	return new Map([...objects].map(([subject, { value }]) => [subject, JSON.stringify(sorted(value))]).sort() as never);
}

test('toggling a cell changes the drafted document accordingly', (t) => {
	const place = fc.record({ resource: fc.constantFrom(...resourceKeys), action: fc.constantFrom(...actionKeys) });
	const law = fc.property(
		anySchema,
		fc.array(edit, { maxLength: 4 }),
		fc.nat(),
		place,
		(document, earlier, index, at) => {
			const stored = readSchemaObjects(document);
			const draft = earlier.reduce((found, one) => one(stored, found), empty);
			const { columns } = matrixFrom(document, draft);
			const fitting = columns.filter(
				({ kind, resource }) => kind !== 'user_set' && (resource ?? at.resource) === at.resource,
			);
			const column = fitting[index % Math.max(fitting.length, 1)];
			if (column === undefined) return;
			const next = toggleGrant(stored, draft, column, at);
			const kind = column.resource === null ? 'role' : 'resource_role';
			const role = [...draftedObjects(stored, next).values()].find(
				(one) => one.kind === kind && one.key === columnRole(column),
			);
			const { permissions = [] } = (role?.value ?? {}) as { readonly permissions?: readonly string[] };
			const says = permissions.includes(column.resource === null ? `${at.resource}:${at.action}` : at.action);
			t.is(matrixFrom(document, next).cell(column, at).state === 'granted', says);
			t.not(matrixFrom(document, draft).cell(column, at).state === 'granted', says);
		},
	);
	t.notThrows(() => fc.assert(law));
});

/** True if the role `start` allows the action `at`, through any number of derivations and extensions. */
function leadsTo({ resourceRoles }: ReturnType<typeof readPolicySchema>, start: string, at: string): boolean {
	const held = new Set([start]);
	for (let size = 0; size < held.size; ) {
		size = held.size;
		for (const [name, { derivations }] of resourceRoles) {
			if (derivations.some(({ on_resource, role }) => held.has(`${on_resource}:${role}`))) held.add(name);
		}
	}
	const grants = (name: string, seen: readonly string[]): boolean => {
		const role = resourceRoles.get(name);
		if (role === undefined || seen.includes(name)) return false;
		if ([...role.permissions].some((action) => `${role.resource}:${action}` === at)) return true;
		return role.extends.some((key) => grants(`${role.resource}:${key}`, [...seen, name]));
	};
	return [...held].some((name) => grants(name, []));
}

test('a resource role shows permissions that it gets through any number of derivations', (t) => {
	const law = fc.property(anySchema, (document) => {
		const matrix = matrixFrom(document);
		for (const column of matrix.columns.filter(({ kind }) => kind === 'resource_role')) {
			for (const resource of resourceKeys) {
				for (const action of actionKeys) {
					const { state, reasons } = matrix.cell(column, { resource, action });
					const says = leadsTo(matrix.schema, columnRole(column), `${resource}:${action}`);
					t.is(!['none', 'apart'].includes(state), says, `${column.id} ${resource}:${action}`);
					t.is(reasons.length > 0, says);
					if (says) t.true(matrix.reach(column).has(resource));
				}
			}
		}
	});
	t.notThrows(() => fc.assert(law));
});

const everything = { resource: '', role: '', kind: null, fold: { all: false, except: [] } };

test('a filter keeps the matching rows and columns', (t) => {
	const matrix = matrixFrom(schema);
	const shown = (filter: object) => {
		const { rows, columns } = matrixView(matrix, { ...everything, ...filter });
		return {
			rows: rows.map(({ resource, action }) => (action === null ? resource : `${resource}:${action}`)),
			columns: columns.map(({ id }) => id),
		};
	};
	const all = shown({});
	t.deepEqual(all.rows, ['document', 'document:read', 'document:write', 'folder', 'folder:read']);
	t.is(all.columns.length, 8);
	t.deepEqual(shown({ resource: 'DOC:down' }).rows, ['document', 'document:write']);
	t.deepEqual(shown({ resource: 'none' }), {
		rows: [],
		columns: ['role admin', 'role guest', 'role staff', 'user_set adults', 'user_set seniors'],
	});
	t.false(shown({ resource: 'folder' }).columns.includes('resource_role document:editor'));
	t.true(
		shown({ resource: 'document' }).columns.includes('resource_role folder:owner'),
		'a role on documents is derived from it',
	);
	t.deepEqual(shown({ role: 'guest' }).columns, ['role guest']);
	t.deepEqual(shown({ kind: 'user_set' }).columns, ['user_set adults', 'user_set seniors']);
	t.deepEqual(shown({ fold: { all: true, except: ['folder'] } }).rows, ['document', 'folder', 'folder:read']);
});

test('each resource can be folded and unfolded independently', (t) => {
	const keys = fc.constantFrom('a', 'b', 'c');
	const law = fc.property(fc.boolean(), fc.array(keys), keys, (all, taps, key) => {
		const fold = taps.reduce(withFold, { all, except: [] as readonly string[] });
		t.not(isFolded(withFold(fold, key), key), isFolded(fold, key));
		t.deepEqual([...withFold(withFold(fold, key), key).except].sort(), [...fold.except].sort());
		for (const other of ['a', 'b', 'c'].filter((one) => one !== key)) {
			t.is(isFolded(withFold(fold, key), other), isFolded(fold, other));
		}
	});
	t.notThrows(() => fc.assert(law));
});
