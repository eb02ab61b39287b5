import { gzipSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import * as native from '../../src/bundle/gunzip.js';
import * as web from '../../src/bundle/gunzip-web.js';
import * as nativeText from '../../src/pdp/engine/text-bytes.js';
import * as webText from '../../src/pdp/engine/text-bytes-web.js';
import { anyCodePoint } from '../support/any-code-point.js';

/** Modules with a browser variant behave in the same way in browsers. */

const texts = fc.oneof(
	fc.string({ unit: anyCodePoint, maxLength: 600 }),
	fc.string({ unit: 'grapheme-ascii', maxLength: 600 }),
	// Includes lone surrogates, and a leading byte order mark, which decoders may drop.
	fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 }).map((codes) => String.fromCharCode(...codes)),
	fc.string().map((text) => `\ufeff${text}`),
);
const bytes = fc.oneof(
	fc.uint8Array({ maxLength: 300 }),
	texts.map((text) => new Uint8Array(Buffer.from(text))),
);

test('strings are encoded as in Node.js', (t) => {
	fc.assert(
		fc.property(texts, fc.nat(300), fc.nat(2_000), (text, address, limit) => {
			const [one, other] = [nativeText, webText].map(({ textMemory, writeUtf8, utf8Bytes, utf8Length }) => {
				const memory = textMemory(new ArrayBuffer(2_400));
				const length = writeUtf8(memory, text, address, Math.min(limit, 2_400 - address));
				return [[...utf8Bytes(text)], utf8Length(text), length, [...memory.subarray(address, address + length)]];
			});
			t.deepEqual(one, other);
		}),
	);
});

test('bytes are decoded as in Node.js', (t) => {
	fc.assert(
		fc.property(bytes, fc.nat(300), fc.nat(300), (bytes, one, other) => {
			const [from, to] = [one, other].map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b) as [
				number,
				number,
			];
			const [natively, byTheWeb] = [nativeText, webText].map(({ isUtf8, latin1Text, utf8Text }) => [
				isUtf8(bytes),
				latin1Text(bytes, from, to),
				utf8Text(bytes, from, to),
			]);
			t.deepEqual(natively, byTheWeb);
		}),
	);
	// The text is longer than a step, with a character across the boundary.
	const long = new Uint8Array(Buffer.from(`${'x'.repeat(1024 * 1024 - 1)}é`));
	t.true(webText.isUtf8(long));
	t.false(webText.isUtf8(long.subarray(0, -1)));
	t.is(webText.latin1Text(long, 0, 9_000), nativeText.latin1Text(long, 0, 9_000));
});

test('gzip files are decompressed as in Node.js, up to the limit', async (t) => {
	const content = new Uint8Array(200_000).map((_, index) => index % 251);
	const packed = new Uint8Array(gzipSync(content));
	const flipped = packed.map((byte, index) => (index === packed.length - 6 ? byte ^ 1 : byte));
	for (const { gunzipWithin } of [native, web]) {
		t.deepEqual(new Uint8Array(await gunzipWithin(packed, content.length)), content);
		await t.throwsAsync(gunzipWithin(packed, content.length - 1), { instanceOf: RangeError });
		for (const broken of [flipped, packed.subarray(0, -9), new Uint8Array(), content]) {
			const error = await t.throwsAsync(gunzipWithin(broken, content.length));
			t.false(error instanceof RangeError);
		}
	}
});
