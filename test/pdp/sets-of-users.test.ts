import test from 'ava';
import { readCaseModel, serving } from './cases.js';

/** Checks about a set of users instead of a user. */

const d1 = { type: 'my-doc', key: 'd1', tenant: 'acme' };
const ask = (set: unknown, action = 'read', resource: unknown = d1) => ({ user: { set }, action, resource });

const decisions: readonly (readonly [body: object, allow: boolean, because: string])[] = [
	[ask('folder:top#viewer'), true, 'a role derived over several folders'],
	[ask('folder:deep#editor', 'write'), true, 'a role derived in one step'],
	[ask('folder:other#viewer'), false, 'a folder without the document'],
	[ask('folder:top#none'), false, 'an unknown role'],
	[ask('folder:none#viewer'), false, 'an unknown instance'],
	[ask('folder:top#viewer', 'write'), false, 'a role without the permission'],
	[ask('my-doc:d1#reader-1'), true, 'the role on the document itself'],
	[ask('folder:top#viewer', 'read', { ...d1, tenant: 'beta' }), false, 'a different tenant'],
	[ask('__proto__:__proto__#__proto__'), false, 'keys like built-in members'],
];

test('a set of users holds its role and the roles derived from it', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	for (const [body, allow, because] of decisions) {
		t.is((await http.post('/allowed', body)).body['allow'], allow, because);
	}
	const { body } = await http.post<{ allow: { allow: boolean }[] }>(
		'/allowed/bulk',
		decisions.map(([body]) => body),
	);
	t.deepEqual(
		body.allow.map(({ allow }) => allow),
		decisions.map(([, allow]) => allow),
	);
	const explained = await http.post('/allowed', { ...ask('folder:top#viewer'), use_debugger: true });
	t.like(explained.body, { allow: true, query: { user: { key: 'folder:top#viewer' } } });
	t.false(JSON.stringify(explained.body['query']).includes('holdings'));
});

test('malformed sets are refused, and requests that do not support sets', async (t) => {
	const { http } = await serving(t, await readCaseModel('007-folders-and-documents'));
	for (const set of ['', 'team', 'team:eng', 'team#member', 'a:b:c#d', 'a:b#c#d', '#', ':#', 7, null, ['a:b#c']]) {
		t.is((await http.post('/allowed', ask(set))).status, 422, JSON.stringify(set));
	}
	const set = { user: { set: 'folder:top#viewer' } };
	const refused = [
		['/allowed', { ...ask('folder:top#viewer'), use_debugger: 'attempts' }],
		['/user-permissions', set],
		['/user-tenants', set],
		['/filter', { ...set, action: 'read', resource: 'my-doc' }],
		['/allowed_url', { ...set, http_method: 'get', url: 'https://example.com' }],
	] as const;
	for (const [path, body] of refused) t.is((await http.post(path, body)).status, 422, path);
	// A user record may have a field `set`, and no request sets the holdings of a user.
	const holdings = { folder: { viewer: { 'folder:top': null } } };
	for (const user of [
		{ key: 'nobody', set: 'folder:top#viewer' },
		{ key: 'nobody', holdings },
	]) {
		t.is((await http.post('/allowed', { user, action: 'read', resource: d1 })).body['allow'], false);
	}
});
