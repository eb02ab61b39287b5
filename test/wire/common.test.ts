import test from 'ava';
import fc from 'fast-check';
import { z } from 'zod';
import {
	Attributes,
	clearable,
	defaulted,
	Key,
	keyed,
	Name,
	optional,
	Reference,
	Text,
	Timestamp,
	UserKey,
	Uuid,
	unserved,
} from '../../src/wire/common.js';
import { anyCodePoint } from '../support/any-code-point.js';
import { json, parsed } from './parsed.js';

/** The wire vocabulary: accepted values, their parsed form, and the messages for rejected values. */

const keyMessage = ': must be one or more of a-z, A-Z, 0-9, `-`, `_`';
const userKeyMessage = ': must be one or more of a-z, A-Z, 0-9, `|`, `@`, `+`, `-`, `.`, `_`';
const storable = 'must not contain NUL characters or lone surrogates';

const keys = ['a', 'Account', 'read-all', '__user', '0', '-', 'x'.repeat(512), '3d1b0f0a-6b9c-4d5e-8f00-000000000000'];
const userKeys = ['auth0|elon', 'a+b@c.io', 'A.b_c-d', '3d1b0f0a6b9c4d5e8f00000000000000'];

const accepted: readonly (readonly [string, z.ZodType, unknown, unknown?])[] = [
	...keys.map((key) => ['Key', Key, key] as const),
	...userKeys.map((key) => ['UserKey', UserKey, key] as const),
	['Reference', Reference, 'document:budget 1'],
	['Text', Text, ''],
	['Text', Text, 'emoji 😀, line\nbreak, \u0001'],
	['Name', Name, 'x'.repeat(1024)],
	['Uuid', Uuid, '0190F4C8-0000-7000-8000-00000000ABCD', '0190f4c8-0000-7000-8000-00000000abcd'],
	['Uuid', Uuid, '0190f4c80000700080000000000ABCDE', '0190f4c8-0000-7000-8000-0000000abcde'],
	['Timestamp', Timestamp, new Date(0), '1970-01-01T00:00:00.000Z'],
	['Timestamp', Timestamp, '2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
	['Timestamp', Timestamp, '2026-01-02T03:04:05.6789Z', '2026-01-02T03:04:05.678Z'],
	['Attributes', Attributes, {}],
	['Attributes', Attributes, { a: [1, null, { b: 'é' }], 'any name': true, constructor: 1, toString: 2 }],
	['keyed', keyed(z.int()), { 'a-b': 1, constructor: 2 }],
	['keyed', keyed(z.int()), {}],
];

for (const [name, schema, value, becomes = value] of accepted) {
	test(`${name} accepts ${shown(value)}`, (t) => {
		t.deepEqual(parsed(schema, value), { data: becomes });
	});
}

const notKeys = ['', 'a b', 'a.b', 'a:b', 'é', 'a\n', 'a\u0000', 'a/b', '\ud800'];
const notUserKeys = ['', 'a b', 'a:b', 'a/b', 'a\n', 'é'];
const notUuids = [
	'',
	'x',
	'0190f4c8-0000-7000-8000-00000000abcg',
	'0190f4c80000-7000-8000-00000000abcd',
	' 0190f4c8000070008000000000000000',
];
const notObjects = [[], 'x', 3, null, true];

const refused: readonly (readonly [string, z.ZodType, unknown, readonly string[]])[] = [
	...notKeys.map((key) => ['Key', Key, key, [keyMessage]] as const),
	['Key', Key, '__proto__', [': is a reserved name']],
	['Key', Key, 'x'.repeat(513), [': Too big: expected string to have <=512 characters']],
	['Key', Key, 3, [': Invalid input: expected string, received number']],
	['Key', Key, null, [': Invalid input: expected string, received null']],
	...notUserKeys.map((key) => ['UserKey', UserKey, key, [userKeyMessage]] as const),
	['UserKey', UserKey, '__proto__', [': is a reserved name']],
	['UserKey', UserKey, 'x'.repeat(513), [': Too big: expected string to have <=512 characters']],
	['Reference', Reference, '', [': Too small: expected string to have >=1 characters']],
	['Reference', Reference, 'a\u0000', [`: ${storable}`]],
	['Text', Text, 'a\u0000b', [`: ${storable}`]],
	['Text', Text, 'half \ud83d', [`: ${storable}`]],
	['Text', Text, '\udc00', [`: ${storable}`]],
	['Text', Text, 'x'.repeat(16_385), [': Too big: expected string to have <=16384 characters']],
	['Name', Name, 'x'.repeat(1025), [': Too big: expected string to have <=1024 characters']],
	...notUuids.map((uuid) => ['Uuid', Uuid, uuid, [': must be a UUID']] as const),
	['Timestamp', Timestamp, '2026-01-02T03:04:05', [': Invalid ISO datetime']],
	['Timestamp', Timestamp, new Date(Number.NaN), [': Invalid input']],
	...notObjects.map((value) => ['Attributes', Attributes, value, [': must be an object']] as const),
	['Attributes', Attributes, json('{"a":{"b":["x\\u0000"]}}'), [`a.b.0: ${storable}`]],
	['Attributes', Attributes, json('{"a":"\\ud800"}'), [`a: ${storable}`]],
	['Attributes', Attributes, json('{"a\\u0000":1}'), [`a\u0000: ${storable}`]],
	['Attributes', Attributes, json('{"a":{"__proto__":{"x":1}}}'), ['a.__proto__: is a reserved name']],
	[
		'Attributes',
		Attributes,
		json('{"a":[1e999,-1e999]}'),
		['a.0: must be a finite number', 'a.1: must be a finite number'],
	],
	[
		'keyed',
		keyed(z.int()),
		{ 'a b': 1, c: 'x' },
		[`a b${keyMessage}`, 'c: Invalid input: expected number, received string'],
	],
	['keyed', keyed(z.int()), json('{"__proto__":1}'), ['__proto__: is a reserved name']],
	['keyed', keyed(z.int()), [], [': Invalid input: expected record, received array']],
	['unserved', unserved('is not supported', 'Not supported.'), { a: 1 }, [': is not supported']],
	['unserved', unserved('is not supported', 'Not supported.'), 'a', [': is not supported']],
	['unserved', unserved('is not supported', 'Not supported.'), false, [': is not supported']],
	['unserved', unserved('is not supported', 'Not supported.'), ['a'], [': is not supported']],
];

for (const [name, schema, value, problems] of refused) {
	test(`${name} rejects ${shown(value)}`, (t) => {
		t.deepEqual(parsed(schema, value), { problems: [...problems] });
	});
}

function shown(value: unknown): string {
	const text = value instanceof Date ? String(value) : JSON.stringify(value);
	return text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text;
}

const presence = z.object({
	optional: optional(Text),
	defaulted: defaulted(z.array(Text), () => ['x']),
	clearable: clearable(Text),
	unserved: unserved('is not supported', 'Not supported.'),
});

const present: readonly (readonly [string, unknown, unknown])[] = [
	['absent', {}, { defaulted: ['x'] }],
	[
		'null',
		{ optional: null, defaulted: null, clearable: null, unserved: null },
		{ optional: undefined, defaulted: ['x'], clearable: null, unserved: undefined },
	],
	['present', { optional: 'a', defaulted: [], clearable: 'b' }, { optional: 'a', defaulted: [], clearable: 'b' }],
	['an empty value for an unsupported field', { unserved: {} }, { defaulted: ['x'], unserved: undefined }],
];

for (const [title, value, becomes] of present) {
	test(`presence: ${title}`, (t) => {
		t.deepEqual(parsed(presence, value), { data: becomes });
	});
}

test('a default is a new object each time', (t) => {
	t.not(presence.parse({}).defaulted, presence.parse({}).defaulted);
});

test('no accepted or rejected value changes the object prototype', (t) => {
	parsed(Attributes, json('{"__proto__":{"polluted":1}}'));
	parsed(keyed(Attributes), json('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
	t.false('polluted' in {});
});

test('attributes are either unchanged or rejected, and accepted attributes survive JSON and UTF-8', (t) => {
	// Any JSON, including strings and numbers that cannot be stored.
	const anything = fc.dictionary(
		fc.string({ unit: anyCodePoint }),
		fc.jsonValue({ stringUnit: anyCodePoint, maxDepth: 4 }),
	);
	fc.assert(
		fc.property(anything, (value) => {
			const result = Attributes.safeParse(value);
			const text = JSON.stringify(value);
			const holdable = !/\\u0000|\\ud[89a-f]|"__proto__":/.test(text);
			t.is(result.success, holdable, text);
			if (result.success) t.is(JSON.stringify(result.data), text);
		}),
	);
});
