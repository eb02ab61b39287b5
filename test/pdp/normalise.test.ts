import test from 'ava';
import { normalise, normalisePermissions } from '../../src/pdp/decide/normalise.js';
import { BulkQuery, PermissionsQuery, Query } from '../../src/wire/decision/check.js';

/** Requests from real clients, and the single form in which the policy receives them. */

const plain = { user: { key: 'ann' }, action: 'read', resource: { type: 'document', tenant: 'acme' } };

interface Case {
	readonly title: string;
	readonly sent: object;
	/** Replaces members in the plain check. */
	readonly asked?: object;
}

const resource = plain.resource;
const cases: readonly Case[] = [
	{ title: 'all fields in normalized form', sent: {} },
	{ title: 'a user as text', sent: { user: 'ann' } },
	{
		title: 'a type as text',
		sent: { resource: 'document' },
		asked: { resource: { type: 'document', tenant: 'default' } },
	},
	{
		title: 'type and key as text',
		sent: { resource: 'document:a:b' },
		asked: { resource: { type: 'document', key: 'a:b', tenant: 'default' } },
	},
	{
		title: 'text with an empty key',
		sent: { resource: 'document:' },
		asked: { resource: { type: 'document', tenant: 'default' } },
	},
	{ title: 'an empty key', sent: { resource: { ...resource, key: '' } } },
	{ title: 'a null key', sent: { resource: { ...resource, key: null } } },
	{ title: 'a key', sent: { resource: { ...resource, key: 'd1' } }, asked: { resource: { ...resource, key: 'd1' } } },
	{ title: 'an id, which is not a key', sent: { resource: { ...resource, id: 'd1' } } },
	{
		title: 'no tenant',
		sent: { resource: { type: 'document' } },
		asked: { resource: { type: 'document', tenant: 'default' } },
	},
	{
		title: 'a null tenant',
		sent: { resource: { type: 'document', tenant: null } },
		asked: { resource: { type: 'document', tenant: 'default' } },
	},
	{
		title: 'an empty tenant',
		sent: { resource: { type: 'document', tenant: '' } },
		asked: { resource: { type: 'document', tenant: 'default' } },
	},
	{
		title: 'null fields',
		sent: { user: { key: 'ann', attributes: null, email: null, firstName: null }, context: null, sdk: null },
	},
	{ title: 'null resource attributes', sent: { resource: { ...resource, attributes: null } } },
	{
		title: 'empty objects',
		sent: { user: { key: 'ann', attributes: {} }, resource: { ...resource, attributes: {}, context: {} }, context: {} },
	},
	{
		title: 'a whole user record',
		sent: {
			user: {
				key: 'ann',
				id: '0190',
				organization_id: 'o',
				roles: [{ Role: 'x' }],
				created_at: '2026-01-01',
				associated_tenants: [],
			},
		},
	},
	{ title: 'unknown fields', sent: { sdk: 'node', tenant: 'other', use_debugger: true, more: { deep: [1] } } },
	{ title: 'a time, which the caller cannot set', sent: { time: 1 } },
	{ title: 'times before the check, which the caller cannot set', sent: { before: { P30D: '' } } },
	{
		title: 'holdings, which the caller cannot set',
		sent: { user: { key: 'ann', holdings: { document: { owner: { 'document:d1': null } } } }, holdings: {} },
	},
	{
		title: 'names in snake case',
		sent: { user: { key: 'ann', first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' } },
		asked: { user: { key: 'ann', attributes: { email: 'ann@example.com', first_name: 'Ann', last_name: 'Lee' } } },
	},
	{
		title: 'names in camel case',
		sent: { user: { key: 'ann', firstName: 'Ann', lastName: 'Lee' } },
		asked: { user: { key: 'ann', attributes: { first_name: 'Ann', last_name: 'Lee' } } },
	},
	{
		title: 'attributes that override names',
		sent: { user: { key: 'ann', email: 'a@example.com', attributes: { email: 'b@example.com', level: 3 } } },
		asked: { user: { key: 'ann', attributes: { email: 'b@example.com', level: 3 } } },
	},
	{
		title: 'attributes of the resource and the context',
		sent: { resource: { ...resource, attributes: { size: 1 } }, context: { ip: '::1' } },
		asked: { resource: { ...resource, attributes: { size: 1 } }, context: { ip: '::1' } },
	},
	{ title: 'a context with the decision point type', sent: { context: { pdp_type: 'cloud' } } },
	{
		title: 'a context with the decision point type and other fields',
		sent: { context: { pdp_type: 'cloud', ip: '::1' } },
		asked: { context: { ip: '::1' } },
	},
	{ title: 'empty keys, which stay empty', sent: { user: '', action: '' }, asked: { user: { key: '' }, action: '' } },
];

for (const { title, sent, asked } of cases) {
	test(`normalizes a check with ${title}`, (t) => {
		t.deepEqual(normalise(Query.parse({ ...plain, ...sent }), 7), { ...plain, time: 7, ...asked });
	});
}

test('an attribute called __proto__ is an ordinary attribute', (t) => {
	const sent: unknown = JSON.parse(
		'{"user":{"key":"ann","attributes":{"__proto__":{"admin":true}}},"action":"read","resource":"document"}',
	);
	const { user } = normalise(Query.parse(sent), 7);
	t.is(JSON.stringify(user), '{"key":"ann","attributes":{"__proto__":{"admin":true}}}');
	t.false('admin' in (user.attributes ?? {}));
});

test('bulk checks can be an array, or an array in a field', (t) => {
	t.deepEqual(BulkQuery.parse([plain]), BulkQuery.parse({ checks: [plain] }));
	t.deepEqual(BulkQuery.parse([]), []);
});

const listings: readonly (readonly [title: string, sent: object, asked: object])[] = [
	['only a user', { user: 'ann' }, {}],
	['nulls', { tenants: null, resources: null, resource_types: null, context: null }, {}],
	['empty filters', { tenants: [], resources: [], resource_types: [], context: {} }, {}],
	['filters', { tenants: ['acme'], resource_types: ['__tenant'] }, { tenants: ['acme'], resource_types: ['__tenant'] }],
];

for (const [title, sent, asked] of listings) {
	test(`normalizes a permissions request with ${title}`, (t) => {
		const query = PermissionsQuery.parse({ user: { key: 'ann' }, ...sent });
		t.deepEqual(normalisePermissions(query), { user: { key: 'ann' }, ...asked });
	});
}
