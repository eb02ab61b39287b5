import test from 'ava';
import {
	groupByRevision,
	isChangeKind,
	isChangeOperation,
	kindWord,
} from '../../src/console/model/change/change-words.js';
import { directoryPath, readDirectoryPath } from '../../src/console/model/directory-path.js';
import {
	type AssignableRole,
	conditionPhrases,
	holderProblem,
	parameterProblem,
	readGrantValues,
	type ValueText,
} from '../../src/console/model/grant-condition.js';
import { type HeldRole, rolesAtRequest, rolesByTenant, sourceText } from '../../src/console/model/held-role.js';
import { type ObjectPermissions, permissionPage } from '../../src/console/model/matrix/permission-rows.js';
import { phraseText } from '../../src/console/model/phrase.js';

/** Logic of the directory, changes and requests screens, without a page. */

const root = '/console/default/dev/';

const places = [
	['users', 'ann@example.com'],
	['users', 'a|b+c-d._'],
	['users', '100%'],
	['tenants', 'acme'],
	['groups', 'team:ops'],
	['instances', 'document:budget'],
] as const;

for (const [tab, key] of places) {
	test(`the path of ${tab} ${key} is parsed`, (t) => {
		const path = directoryPath(tab, key);
		t.is(path.split('/').length, 3);
		t.deepEqual(readDirectoryPath(root + path), { tab, key });
		t.deepEqual(readDirectoryPath(root + directoryPath(tab)), { tab, key: null });
	});
}

test('an unknown path opens the users tab', (t) => {
	for (const path of ['directory', 'directory/', 'directory/nothing/x', 'directory/constructor']) {
		t.deepEqual(readDirectoryPath(root + path), { tab: 'users', key: null }, path);
	}
	t.deepEqual(readDirectoryPath(`${root}directory/users/%E0%A4%A`), { tab: 'users', key: '%E0%A4%A' });
});

const held = (role: string, more: Partial<HeldRole> = {}): HeldRole => ({
	role,
	tenant: 'acme',
	resource_instance: null,
	source: 'direct',
	through: [],
	...more,
});
const owner = { role: 'owner', resource_instance: 'folder:plans', relation: 'parent' };
const member = { role: 'member', resource_instance: 'team:ops', relation: 'reader_team' };

test('a role is shown with its source', (t) => {
	t.is(sourceText(held('viewer')), 'assigned');
	t.is(sourceText(held('reader', { source: 'group', through: [member] })), 'from member on team:ops');
	t.is(
		sourceText(held('editor', { source: 'derived', through: [member, owner] })),
		'from member on team:ops, then owner on folder:plans',
	);
	t.is(
		sourceText(held('editor', { source: 'derived', through: [member, owner, owner] })),
		'from member on team:ops, through 2 other instances',
	);
	t.is(sourceText(held('reader', { source: 'computed' })), 'from other roles on the instance');
	t.is(sourceText(held('reader', { source: 'group' })), 'from a group');
});

test('roles are grouped by tenant, with tenant roles first', (t) => {
	const roles = [
		held('owner', { resource_instance: 'folder:plans' }),
		held('viewer', { tenant: 'globex' }),
		held('manager'),
	];
	t.deepEqual(
		rolesByTenant(roles).map(({ tenant, roles: here }) => [tenant, here.map(({ role }) => role)]),
		[
			['acme', ['manager', 'owner']],
			['globex', ['viewer']],
		],
	);
});

test('a request shows the user’s roles in its tenant and on its instance', (t) => {
	const roles = [
		held('viewer'),
		held('owner', { resource_instance: 'account:main' }),
		held('owner', { resource_instance: 'account:other' }),
		held('viewer', { tenant: 'globex' }),
	];
	const asked = { type: 'access_request', tenant_key: 'acme', resource_key: 'account' } as const;
	const at = (resource_instance_key: string | null) =>
		rolesAtRequest(roles, { ...asked, resource_instance_key }).map(({ role }) => role);
	t.deepEqual(at(null), ['viewer']);
	t.deepEqual(at('main'), ['viewer', 'owner']);
});

test('a user’s permissions are filtered and paged', (t) => {
	const tenant = { key: 'acme' };
	const listed: Readonly<Record<string, ObjectPermissions>> = {
		'document:a': {
			tenant,
			resource: { type: 'document', key: 'a' },
			permissions: ['document:read'],
			roles: ['reader'],
		},
		'document:b': {
			tenant,
			resource: { type: 'document', key: 'b' },
			permissions: ['document:write'],
			roles: ['Editor'],
		},
		'__tenant:acme': { tenant, permissions: ['document:read'], roles: ['viewer'] },
	};
	const found = (text: string, page = 1) => {
		const { rows, total, pageCount } = permissionPage(listed, { text, page, perPage: 2 });
		return [rows.map(({ instance }) => instance), total, pageCount];
	};
	t.deepEqual(found(''), [[null, 'document:a'], 3, 2]);
	t.deepEqual(found('', 2), [['document:b'], 3, 2]);
	t.deepEqual(found('editor  WRITE'), [['document:b'], 1, 1]);
	t.deepEqual(found('editor read'), [[], 0, 1]);
});

test('changes are described in words and grouped by revision', (t) => {
	const of = (revision: number, position: number) => ({ revision, position });
	t.deepEqual(groupByRevision([of(3, 1), of(3, 0), of(2, 0)]), [[of(3, 1), of(3, 0)], [of(2, 0)]]);
	t.deepEqual(groupByRevision([]), []);
	t.is(kindWord('resource_action'), 'action');
	t.is(kindWord('condition_set'), 'condition set');
	t.true(isChangeKind('role_assignment'));
	t.true(isChangeOperation('update'));
	for (const text of ['', 'constructor', 'toString']) {
		t.false(isChangeKind(text));
		t.false(isChangeOperation(text));
	}
});

const parameters = {
	limit: { type: 'number' },
	networks: { type: 'array' },
	note: { type: 'string' },
	strict: { type: 'bool' },
} as const;
const value = (text: string, items: ValueText['items'] = 'texts'): ValueText => ({ text, items });
const complete = {
	limit: value('-1.5e3'),
	networks: value('10.0.0.0/8\n\n 7 '),
	note: value('true'),
	strict: value('false'),
};

test('condition values are parsed by parameter type', (t) => {
	t.deepEqual(readGrantValues(parameters, complete), {
		values: { limit: -1500, networks: ['10.0.0.0/8', '7'], note: 'true', strict: false },
	});
	const numbers = readGrantValues({ networks: { type: 'array' } }, { networks: value('7\n-1', 'numbers') });
	t.deepEqual(numbers, { values: { networks: [7, -1] } });
});

const wrongValues: readonly (readonly [Readonly<Record<string, ValueText>>, RegExp])[] = [
	[{}, /number for “limit”/],
	...['', 'x', '0x', '1e999', 'Infinity', '1,5'].map((text) => [{ limit: value(text) }, /number for “limit”/] as const),
	[{ networks: value(' \n') }, /at least one item for “networks”/],
	[{ networks: value('1\nx', 'numbers') }, /numbers for “networks”/],
	[{ networks: value(Array.from({ length: 101 }, String).join('\n')) }, /at most 100 items for “networks”/],
	[{ note: value('') }, /text for “note”/],
	[{ strict: value('') }, /yes or no for “strict”/],
];

test('the problem names the first invalid condition value', (t) => {
	for (const [texts, problem] of wrongValues) {
		const read = readGrantValues(parameters, texts === wrongValues[0]?.[0] ? texts : { ...complete, ...texts });
		t.regex('problem' in read ? read.problem : '', problem);
	}
});

const assignable: AssignableRole = {
	resource: 'page',
	key: 'reader',
	isPublic: false,
	grantableTo: [{ role: 'member', on_resource: 'team' }],
	conditions: [{ key: 'below', name: 'below', parameters: {} }],
};

test('a role can be assigned to users, and to the sets of users that it declares', (t) => {
	t.is(holderProblem('ann', assignable, 'below'), null);
	t.is(holderProblem('team:eng#member', assignable, ''), null);
	t.is(holderProblem('*', { ...assignable, isPublic: true }, ''), null);
	t.regex(holderProblem('*', assignable, '') ?? '', /not public/);
	t.regex(holderProblem('team:eng#lead', assignable, '') ?? '', /only to these sets of users: team:…#member\./);
	t.regex(holderProblem('team:eng#lead', { ...assignable, grantableTo: [] }, '') ?? '', /cannot be assigned to sets/);
	for (const malformed of ['team#member', 'team:eng#', '#', 'a:b:c#d']) {
		t.regex(holderProblem(malformed, assignable, '') ?? '', /resource:key#role/, malformed);
	}
	t.regex(holderProblem('team:eng#member', assignable, 'below') ?? '', /single users/);
	t.regex(holderProblem('*', { ...assignable, isPublic: true }, 'below') ?? '', /single users/);
});

test('a condition is shown with its values', (t) => {
	const values = { strict: true, networks: ['10.0.0.0/8', 7], limit: 500 };
	t.is(
		phraseText(conditionPhrases({ set: 'below', values })),
		'`below` with limit 500, networks [10.0.0.0/8, 7], strict yes',
	);
	t.is(phraseText(conditionPhrases({ set: 'below', values: {} })), '`below`');
	t.true(phraseText(conditionPhrases({ set: 'below', values: { note: 'x'.repeat(999) } })).length < 300);
});

test('duplicate and invalid parameter names are rejected', (t) => {
	t.is(parameterProblem('max-amount_2', parameters), null);
	for (const name of ['', 'a b', 'ä', 'limit']) t.is(typeof parameterProblem(name, parameters), 'string', name);
	const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, { type: 'bool' as const }]));
	t.regex(parameterProblem('one-more', many) ?? '', /at most 20/);
});
