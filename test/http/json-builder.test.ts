import test from 'ava';
import fc from 'fast-check';
import {
	IllFormedError,
	JsonBuilder,
	JsonLimitError,
	type JsonLimits,
	parseJson,
} from '../../src/http/json-builder.js';

/** Building JSON from parts of a text gives the same result as `JSON.parse` on the whole text. */

const generous = { depth: 100, values: 1_000_000, token: 1_000_000, members: 1_000_000 };

/**
 * Returns the result of `work` as JSON, which preserves the member order. If `work` throws, returns the error's name.
 */
function outcome(work: () => unknown): string {
	try {
		return JSON.stringify(work());
	} catch (error) {
		return error instanceof Error ? error.name : String(error);
	}
}

/** Throws unless a text in parts gives the same result as the whole text. */
function compare(text: string, cuts: readonly number[]): void {
	const whole = outcome(() => parseJson(text));
	const inParts = outcome(() => built(textParts(text, cuts)));
	if (inParts !== whole) throw new Error(`${JSON.stringify(text)} is ${inParts} in parts and ${whole} as a whole`);
}

function built(parts: readonly string[], limits: JsonLimits = generous): unknown {
	const builder = new JsonBuilder(limits, 16);
	for (const part of parts) builder.add(part);
	return builder.finish();
}

/** Splits a text into parts. Cycles through the lengths in `lengths`. */
function textParts(text: string, lengths: readonly number[]): readonly string[] {
	const parts: string[] = [];
	for (let at = 0, turn = 0; at < text.length; turn++) {
		const length = lengths[turn % lengths.length] ?? 1;
		parts.push(text.slice(at, at + length));
		at += length;
	}
	return parts;
}

const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

const name = fc.oneof(fc.constantFrom('', 'a', 'b', '__proto__', '0', '7', 'é"\\', '[,]{:}'), fc.string());
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 5, depthSize: 'small', withCrossShrink: true },
		fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null), name),
		fc.array(tie('value'), { maxLength: 6 }),
		fc.array(fc.tuple(name, tie('value')), { maxLength: 6 }).map((members) => new Members(members)),
	),
}));

/** An object that may contain the same member several times. */
class Members {
	constructor(readonly members: readonly (readonly [string, unknown])[]) {}
}

/** Formats JSON with `blank` between its tokens. */
function written(value: unknown, blank: string): string {
	const list = (texts: readonly string[]) => texts.join(`${blank},${blank}`);
	if (Array.isArray(value)) return `[${blank}${list(value.map((item) => written(item, blank)))}${blank}]`;
	if (!(value instanceof Members)) return JSON.stringify(value);
	const members = value.members.map(([key, member]) => `${JSON.stringify(key)}${blank}:${written(member, blank)}`);
	return `{${blank}${list(members)}${blank}}`;
}

test('the value is the same for any split of the text', (t) => {
	const property = fc.property(anything, fc.constantFrom('', ' ', '\n\t '), lengths, (value, blank, cuts) =>
		compare(`${blank}${written(value, blank)}${blank}`, cuts),
	);
	t.notThrows(() => fc.assert(property, { numRuns: 500 }));
});

test('a text with a missing, extra or wrong character is rejected whenever JSON.parse rejects it', (t) => {
	const character = fc.constantFrom(...'[]{},:"\\ 1ntx', '');
	const property = fc.property(anything, fc.nat(), character, fc.boolean(), lengths, (value, at, other, drop, cuts) => {
		const right = written(value, '');
		const place = at % (right.length + 1);
		compare(right.slice(0, place) + other + right.slice(place + (drop ? 1 : 0)), cuts);
	});
	t.notThrows(() => fc.assert(property, { numRuns: 2_000 }));
});

const malformed = [
	'',
	' ',
	'[',
	'{',
	']',
	'}',
	'[1,]',
	'[,1]',
	'[1,,2]',
	'{"a":1,}',
	'{,"a":1}',
	'{"a"}',
	'{"a":}',
	'{1:2}',
	'[1}',
	'{]',
	'[[1],,[2]]',
	'[[1],]',
	'[[1][2]]',
	'[[1]2]',
	'[1[2]]',
	'{"a":[1]"b":2}',
	'{"a":[1],}',
	'{"a":{},,"b":{}}',
	'[]]',
	'[],',
	'[] []',
	'1,2',
	'"a',
	'[1] x',
	'{"a":[1]]',
	'[{"a":1]}',
	'{"a" "b":[1]}',
	'{"a":"b":[1]}',
	'[:[1]]',
	'{[1]}',
	'["a"[1]]',
];

for (const text of malformed) {
	test(`rejects malformed JSON in chunks of any length: ${JSON.stringify(text)}`, (t) => {
		// The numbers are so long that the builder starts to read them before their end arrives.
		const long = text.replaceAll('1', '1'.repeat(20));
		for (const one of [text, long]) {
			for (let length = 1; length <= one.length + 1; length++) {
				t.throws(() => built(textParts(one, [length])), { instanceOf: SyntaxError }, `${one} by ${length}`);
			}
		}
	});
}

const illFormed: readonly (readonly [text: string, path: readonly (string | number)[]])[] = [
	['"\\ud800"', []],
	['{"a":"x\\uDC00"}', ['a']],
	['[1,["long enough to be cut",{"b":[0,"\\ud83dx"]}]]', [1, 1, 'b', 1]],
	['[1,["long enough to be cut",{"\\ud83d":[0,"and more of it that is cut"]}]]', [1, 1, '\ud83d']],
	['{"a":["long enough to be cut","the same again",3,4,"\\udfff",6]}', ['a', 4]],
	['{"a":{"b":"long enough to be cut","c":1},"d":"\\ud800\\ud800"}', ['d']],
];

for (const [text, path] of illFormed) {
	test(`a lone surrogate is rejected with its location: ${text}`, (t) => {
		t.deepEqual(t.throws<IllFormedError>(() => parseJson(text), { instanceOf: IllFormedError }).path, path);
		for (let length = 1; length <= text.length; length++) {
			const error = t.throws<IllFormedError>(() => built(textParts(text, [length])), { instanceOf: IllFormedError });
			t.deepEqual(error.path, path, `by ${length}`);
		}
	});
}

test('an escaped surrogate pair is one character', (t) => {
	t.is(parseJson('"\\ud83d\\ude00"'), '😀');
	t.deepEqual(built(textParts('["\\ud83d\\ude00","long enough to be cut"]', [3])), ['😀', 'long enough to be cut']);
});

test('input that is too deep or too large is rejected before it is built', (t) => {
	t.is(exceededLimit('['.repeat(4), { ...generous, depth: 3 }), 'depth');
	t.is(exceededLimit('[[],[],[],[]', { ...generous, values: 6 }), 'values');
	t.is(exceededLimit(`{"a":{}${',"b":{}'.repeat(10)}`, { ...generous, values: 20 }), 'values');
	t.deepEqual(built(['[[[1]]]'], { ...generous, depth: 3, values: 3 }), [[[1]]]);
});

/**
 * JSON texts with the outcome, if objects may have at most three fields. Objects at `mapLevel` may have any number of
 * fields.
 */
const wide: readonly (readonly [text: string, mapLevel: number | undefined, outcome: string])[] = [
	['{"a":1,"b":2,"c":3}', undefined, 'taken'],
	['{"a":1,"b":2,"c":3,"d":4}', undefined, 'members'],
	['{"a":1,"a":2,"a":3,"a":4}', undefined, 'members'],
	['{"a":[1,2,3,4],"b":{"x":1,"y":2,"z":3},"c":"{,,,,}"}', undefined, 'taken'],
	['[{"a":{"b":1}},{"a":1,"b":{"x":1,"y":2,"z":3},"c":3,"d":4}]', undefined, 'members'],
	['[[1,2,3,4],{"a":[],"b":[],"c":[],"d":[', undefined, 'members'],
	['{"a":{"a":1,"b":2,"c":3,"d":4},"b":{"a":[],"b":[],"c":[],"d":[]}}', 2, 'taken'],
	['{"a":1,"b":2,"c":3,"d":4}', 2, 'members'],
	['{"a":{"a":{"a":1,"b":2,"c":3,"d":4}}}', 2, 'members'],
];

for (const [text, mapLevel, outcome] of wide) {
	test(`limits the fields per object, with the map level ${mapLevel}: ${text}`, (t) => {
		const limits = { ...generous, members: 3, mapLevel };
		for (let length = 1; length <= text.length; length++) {
			const value = exceededLimit(textParts(text, [length]), limits);
			t.is(value, outcome === 'taken' ? JSON.stringify(JSON.parse(text)) : outcome, `by ${length}`);
		}
	});
}

const tokens: readonly (readonly [text: string, outcome: string])[] = [
	['["123456","1234567"]', 'taken'],
	['["12345678"]', 'token'],
	['{"1234567":"1234567"}', 'taken'],
	['{"12345678":1}', 'token'],
	['["a\\"b\\\\c"]', 'taken'],
	['[1234567,1234567]', 'taken'],
	['[1,123456789]', 'token'],
	['123456789', 'token'],
	['"1234567"', 'taken'],
	['"12345678"', 'token'],
	['"12345678', 'token'],
];

for (const [text, outcome] of tokens) {
	test(`limits the length of strings, names and numbers: ${text}`, (t) => {
		for (let length = 1; length <= text.length; length++) {
			const value = exceededLimit(textParts(text, [length]), { ...generous, token: 7 });
			t.is(value, outcome === 'taken' ? JSON.stringify(JSON.parse(text)) : outcome, `by ${length}`);
		}
	});
}

function exceededLimit(text: string | readonly string[], limits: JsonLimits): string {
	try {
		return JSON.stringify(built(typeof text === 'string' ? [text] : text, limits));
	} catch (error) {
		return error instanceof JsonLimitError ? error.limit : String(error);
	}
}
