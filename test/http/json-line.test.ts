import test from 'ava';
import fc from 'fast-check';
import { JsonLimitError } from '../../src/http/json-builder.js';
import { LineReader } from '../../src/http/json-line.js';

/** JSON lines: a text is divided into lines as it arrives. */

function linesIn(parts: readonly string[], limit = 1_000): readonly string[] {
	const reader = new LineReader(limit);
	for (const part of parts) reader.add(part);
	return reader.finish().map(({ text }) => text);
}

test('the lines do not depend on the chunks in which a text arrives', (t) => {
	const part = fc.array(fc.constantFrom('a', '{"b":1}', '\n', '\n\n', ' ', 'é')).map((pieces) => pieces.join(''));
	const property = fc.property(fc.array(part), (parts) => {
		const expected = parts
			.join('')
			.split('\n')
			.filter((line) => line.trim() !== '');
		t.deepEqual(linesIn(parts), expected);
	});
	t.notThrows(() => fc.assert(property));
});

test('a text with too many lines is rejected', (t) => {
	t.is(linesIn(['1\n2\n', '3'], 3).length, 3);
	t.throws(() => linesIn(['1\n2\n3\n4'], 3), { instanceOf: JsonLimitError });
});
