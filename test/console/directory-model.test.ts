import test from 'ava';
import {
	groupByRevision,
	isChangeKind,
	isChangeOperation,
	kindWord,
} from '../../src/console/model/change/change-words.js';
import { directoryPath, readDirectoryPath } from '../../src/console/model/directory-path.js';
import { type HeldRole, rolesAtRequest, rolesByTenant, sourceText } from '../../src/console/model/held-role.js';
import { type ObjectPermissions, permissionPage } from '../../src/console/model/matrix/permission-rows.js';

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
	test(`the path leads to the page of ${tab} ${key}`, (t) => {
		const path = directoryPath(tab, key);
		t.is(path.split('/').length, 3);
		t.deepEqual(readDirectoryPath(root + path), { tab, key });
		t.deepEqual(readDirectoryPath(root + directoryPath(tab)), { tab, key: null });
	});
}

test('an unknown path leads to the users', (t) => {
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

test('a role is shown with its origin', (t) => {
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
	t.is(sourceText(held('reader', { source: 'computed' })), 'from other roles here');
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

test('a request offers only roles in its tenant and on its instance', (t) => {
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
