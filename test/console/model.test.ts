import test from 'ava';
import { ApiFailure, failureMessage } from '../../src/console/model/api-failure.js';
import { readElementAddress } from '../../src/console/model/element/element-address.js';
import {
	type ElementValue,
	elementChoices,
	newElement,
	otherSettings,
	readElementValue,
	readOtherSettings,
	type SettingField,
	settingChoices,
	withLevel,
	withSetting,
	withType,
} from '../../src/console/model/element/element-value.js';
import {
	mayAssign,
	mayManage,
	mayRemove,
	maySee,
	requestableRoles,
	weakestFirst,
} from '../../src/console/model/element/levels.js';
import { sentToken } from '../../src/console/model/element/sent-token.js';
import { durationText, expiryMember, fieldTime, splitDuration } from '../../src/console/model/instants.js';
import { readSchemaObjects } from '../../src/console/model/matrix/schema-objects.js';
import { requestSubject, userName } from '../../src/console/model/wording.js';

/** Element page logic, without a page. */

const origins = ['https://app.example.com'];
const message = {
	origin: 'https://app.example.com',
	fromEmbeddingPage: true,
	data: { type: 'permitToken', permitToken: 'a_B-9' },
};
const refused: Readonly<Record<string, object>> = {
	'a different origin': { origin: 'https://evil.example.com' },
	'an origin with the same prefix': { origin: 'https://app.example.com.evil.com' },
	'an opaque origin': { origin: 'null' },
	'a different window': { fromEmbeddingPage: false },
	nothing: { data: null },
	'a string': { data: 'permitToken' },
	'a different type': { data: { type: 'permit', permitToken: 'a' } },
	'no token': { data: { type: 'permitToken' } },
	'a token that is not a string': { data: { type: 'permitToken', permitToken: { a: 1 } } },
	'an empty token': { data: { type: 'permitToken', permitToken: '' } },
	'a token with a line break': { data: { type: 'permitToken', permitToken: 'a\r\nb' } },
	'a token that is too long': { data: { type: 'permitToken', permitToken: 'a'.repeat(513) } },
};

test('a token is accepted from an embedding page with a configured origin', (t) => {
	t.is(sentToken(message, origins), 'a_B-9');
	t.is(sentToken(message, []), null);
	for (const [what, difference] of Object.entries(refused)) {
		t.is(sentToken({ ...message, ...difference }, origins), null, what);
	}
});

const addresses: Readonly<Record<string, object>> = {
	'/elements/members': { elementKey: 'members', darkMode: null, tenantKey: null, byToken: false },
	'/members?darkMode=true&elementsToken=TRUE': { elementKey: 'members', darkMode: true, byToken: true },
	'/members?darkMode=false&elementsToken=false': { darkMode: false, byToken: false },
	'/members?darkMode=1&elementsToken=1': { darkMode: null, byToken: false },
	'/members?tenantKey=acme&resourceInstanceKey=document%3Aplan': {
		tenantKey: 'acme',
		resourceInstanceKey: 'document:plan',
	},
	'/members/?tenantKey=&resourceInstanceKey=': { elementKey: 'members', tenantKey: null, resourceInstanceKey: null },
};

for (const [address, says] of Object.entries(addresses)) {
	test(`the URL ${address} is parsed`, (t) => t.like(readElementAddress(new URL(address, 'https://x.example')), says));
}

test('each level allows its actions', (t) => {
	const levels = ['LEVEL_1', 'LEVEL_2', 'LEVEL_3', 'LEVEL_4', 'HIDDEN', 'UNCONFIGURED'] as const;
	t.deepEqual(levels.filter(maySee), ['LEVEL_1', 'LEVEL_2', 'LEVEL_3']);
	t.deepEqual(levels.filter(mayManage), ['LEVEL_1', 'LEVEL_2']);
	const given = (level: (typeof levels)[number]) => levels.filter((ofRole) => mayAssign(level, ofRole));
	t.deepEqual(given('LEVEL_1'), levels);
	t.deepEqual(given('LEVEL_2'), ['LEVEL_2', 'LEVEL_3', 'LEVEL_4']);
	for (const level of levels.slice(2)) t.deepEqual(given(level), [], level);
	t.deepEqual(
		levels.filter((level) => mayRemove(level, ['LEVEL_4', 'LEVEL_1'])),
		['LEVEL_1'],
	);
	t.deepEqual(
		levels.filter((level) => mayRemove(level, ['LEVEL_2'])),
		['LEVEL_1', 'LEVEL_2'],
	);
});

test('requestable roles are listed once, weakest first, and only for the tenant or instance of the request', (t) => {
	const role = (id: string, resource_id: string | null = null) => ({
		id,
		key: id,
		name: id.toUpperCase(),
		resource_id,
	});
	const roles = requestableRoles([
		{ roles_to_levels: { LEVEL_1: [role('owner'), role('keeper', 'document')], HIDDEN: [role('ghost')] } },
		{
			roles_to_levels: {
				LEVEL_1: [role('owner')],
				LEVEL_2: [role('manager')],
				LEVEL_4: [role('viewer'), role('editor'), role('finder', 'folder')],
				UNCONFIGURED: [role('x')],
			},
		},
	]);
	const ids = (place: Parameters<typeof roles>[0]) => roles(place).map(({ id }) => id);
	t.deepEqual(ids({ onInstance: false }), ['editor', 'viewer', 'manager', 'owner'], 'weakest first');
	const unleveled = weakestFirst([
		{ name: 'b', permission_level: 'UNCONFIGURED' },
		{ name: 'c', permission_level: 'LEVEL_1' },
		{ name: 'd', permission_level: 'LEVEL_3' },
	]);
	t.deepEqual(
		unleveled.map(({ name }) => name),
		['d', 'c', 'b'],
	);
	t.deepEqual(ids({ onInstance: true }), ['finder', 'keeper']);
	t.deepEqual(ids({ onInstance: true, resourceId: 'folder' }), ['finder']);
});

test('people, subjects and errors are described in words', (t) => {
	const ann = { key: 'a1', email: 'ann@example.com', first_name: 'Ann', last_name: null };
	t.is(userName(ann), 'Ann');
	t.is(userName({ ...ann, last_name: 'Lee' }), 'Ann Lee');
	t.is(userName({ ...ann, first_name: null }), 'ann@example.com');
	t.is(userName({ ...ann, first_name: null, email: null }), 'a1');
	t.is(userName({ ...ann, first_name: 'Ann\u202e' }), 'Ann\\u{202e}');
	const request = { resource_key: null, resource_instance_key: null } as Parameters<typeof requestSubject>[0];
	t.is(requestSubject({ ...request, role_name: 'Editor' }), 'Editor');
	t.is(
		requestSubject({ ...request, resource_key: 'account', resource_instance_key: 'main' }),
		'operation on account:main',
	);
	t.is(requestSubject({ ...request, resource_key: 'account' }), 'operation on account');
	t.is(failureMessage(404, { message: 'no such role' }), 'no such role');
	t.is(failureMessage(422, { detail: [{ loc: ['body', 'role'], msg: 'field required' }] }), 'role: field required');
	t.is(failureMessage(502, undefined), 'The server returned status 502.');
	const missing = { message: "could not find 'ResourceInstance' with the given filters: id='a:b'" };
	t.is(failureMessage(404, missing), 'Resource instance `a:b` does not exist');
	const problem = { loc: ['body', 'key'], msg: "could not find 'ApiKey' with the given filters: id=''" };
	t.is(failureMessage(422, { detail: [problem] }), 'key: API key `` does not exist');
	const detail = [{ loc: ['body', 'role'], msg: 'field required' }];
	t.deepEqual(new ApiFailure(422, 'no', { detail }).problems, detail);
	t.deepEqual(new ApiFailure(502, 'no').problems, []);
});

test('a time survives editing in its field, and durations are described in words', (t) => {
	const instant = new Date('2999-06-01T12:34:00.000Z');
	t.deepEqual(expiryMember(`on ${fieldTime(instant)}`), { expires_at: instant.toISOString() });
	t.deepEqual(expiryMember('in 28800', instant.getTime()), { expires_at: '2999-06-01T20:34:00.000Z' });
	for (const incomplete of ['', 'in ', 'on '] as const) t.deepEqual(expiryMember(incomplete), {});
	const durations: readonly (readonly [number, string])[] = [
		[604_800, '7 days'],
		[86_400, '1 day'],
		[5_400, '90 minutes'],
		[7_200, '2 hours'],
		[61, '61 seconds'],
	];
	for (const [seconds, text] of durations) t.is(durationText(seconds), text);
});

test('an element keeps the settings of its type, and each role has one level', (t) => {
	const stored = {
		name: 'Operations',
		elements_type: 'operation_approval',
		settings: { resource: 'document', single_use: true, theme: 'plain' },
	};
	const element = readElementValue(stored);
	t.deepEqual(element, { ...newElement, ...stored } as ElementValue);
	t.deepEqual(otherSettings(element), { theme: 'plain' });
	t.deepEqual(withType(element, 'user_management').settings, { resource: 'document', theme: 'plain' });
	t.deepEqual(withSetting(element, 'resource', undefined).settings, { single_use: true, theme: 'plain' });
	const leveled = withLevel(withLevel(element, 'reader', 'LEVEL_1'), 'reader', 'HIDDEN');
	t.deepEqual(leveled.role_levels, { reader: 'HIDDEN' });
	t.deepEqual(withLevel(leveled, 'reader', '').role_levels, {});
	t.deepEqual(readOtherSettings('{"a": 1, "b": "c", "d": true}'), { a: 1, b: 'c', d: true });
	for (const text of ['[', '[1]', '{"a": 1.5}', '{"a": null}']) t.is(readOtherSettings(text), null, text);
	const objects = readSchemaObjects({
		roles: { reader: {} },
		resources: { document: { actions: { read: {} }, roles: { editor: {} } } },
		elements_configs: { operations: stored },
	});
	const choices = elementChoices(objects);
	t.deepEqual(choices.roles, ['reader', 'document:editor']);
	const choicesFor = (name: string, kind: SettingField['kind']) =>
		settingChoices({ name, label: '', kind }, element, choices);
	t.deepEqual(choicesFor('resource', 'resource'), ['document']);
	t.deepEqual(choicesFor('action', 'action'), ['read']);
	t.deepEqual(choicesFor('default_role', 'role'), ['reader', 'document#editor']);
	t.deepEqual(choicesFor('operation_approval_element', 'operation_approval'), ['operations']);
	t.deepEqual(choicesFor('access_request_element', 'approval_flow'), []);
});

test('a duration is split into a count and its largest unit', (t) => {
	for (const [seconds, count, unit] of [
		[28_800, 8, 'hours'],
		[604_800, 1, 'weeks'],
		[172_800, 2, 'days'],
		[90, 2, 'minutes'],
	] as const) {
		t.deepEqual(splitDuration(seconds), { count, unit });
	}
});
