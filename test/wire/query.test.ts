import test from 'ava';
import { z } from 'zod';
import { Flag, PageQuery, References, Search, withAttributeFilters } from '../../src/wire/query.js';
import { parsed } from './parsed.js';

/**
 * Query parameters in the form in which the server passes them on: a string, or a list of strings if the parameter is
 * repeated.
 */

const page = { page: 1, per_page: 30 };
const flag = z.object({ flag: Flag });
const search = z.object({ search: Search });
const references = z.object({ role: References });
const filtered = withAttributeFilters({ search: Search });

const accepted: readonly (readonly [string, z.ZodType, unknown, unknown])[] = [
	['page', PageQuery, {}, page],
	['page', PageQuery, { page: '7', per_page: '100', junk: 'x' }, { page: 7, per_page: 100 }],
	['page', PageQuery, { page: '999999999' }, { ...page, page: 999_999_999 }],
	['flag', flag, {}, { flag: false }],
	['flag', flag, { flag: 'true' }, { flag: true }],
	['flag', flag, { flag: 'True' }, { flag: true }],
	['flag', flag, { flag: '1' }, { flag: true }],
	['flag', flag, { flag: 'false' }, { flag: false }],
	['flag', flag, { flag: 'FALSE' }, { flag: false }],
	['flag', flag, { flag: '0' }, { flag: false }],
	['search', search, {}, {}],
	['search', search, { search: '' }, { search: undefined }],
	['search', search, { search: 'a b*' }, { search: 'a b*' }],
	['references', references, {}, {}],
	['references', references, { role: 'a' }, { role: ['a'] }],
	['references', references, { role: ['a', 'b'] }, { role: ['a', 'b'] }],
	['attribute filters', filtered, { search: 'x' }, { search: 'x', attribute_filters: [] }],
	[
		'attribute filters',
		filtered,
		{ attr_color: 'red', 'attr_a b': '' },
		{
			attr_color: 'red',
			'attr_a b': '',
			attribute_filters: [
				{ name: 'color', value: 'red' },
				{ name: 'a b', value: '' },
			],
		},
	],
];

for (const [name, schema, value, becomes] of accepted) {
	test(`${name} accepts ${JSON.stringify(value)}`, (t) => {
		t.deepEqual(parsed(schema, value), { data: becomes });
	});
}

const attributeFilters = (count: number) =>
	Object.fromEntries(Array.from({ length: count }, (_, index) => [`attr_a${index}`, 'x']));

test('the number of attribute filters is limited as documented', (t) => {
	t.true(filtered.safeParse(attributeFilters(20)).success);
	const says = 'must be omitted: a list accepts at most 20 attribute filters';
	t.deepEqual(parsed(filtered, attributeFilters(900)), { problems: [`attr_a20: ${says}`] });
});

const notAPage = 'page: must be a whole number from 1 to 999999999';
const notASize = 'per_page: must be a whole number from 1 to 100';

const notPages = ['', 'x', '-1', '1.5', '1e1', '0x1', ' 1', 'NaN', '1000000000', ['1', '2']];
const notFlags = ['', 'yes', '2', 'true ', ['true', 'true']];

const refused: readonly (readonly [string, z.ZodType, unknown, readonly string[]])[] = [
	...notPages.map((text) => ['page', PageQuery, { page: text }, [notAPage]] as const),
	['page', PageQuery, { page: '0' }, [notAPage]],
	['page', PageQuery, { per_page: '101' }, [notASize]],
	['page', PageQuery, { per_page: '0' }, [notASize]],
	...notFlags.map((text) => ['flag', flag, { flag: text }, ['flag: must be true or false']] as const),
	['search', search, { search: 'a\u0000' }, ['search: must not contain NUL characters or lone surrogates']],
	['references', references, { role: ['a', ''] }, ['role.1: Too small: expected string to have >=1 characters']],
	['attribute filters', filtered, { attr_a: ['x', 'y'] }, ['attr_a: must be a single string']],
	['attribute filters', filtered, { attr_a: '\u0000' }, ['attr_a: must be a single string']],
	['attribute filters', filtered, { 'attr_\u0000': 'x' }, ['attr_\u0000: must be a single string']],
];

for (const [name, schema, value, problems] of refused) {
	test(`${name} rejects ${JSON.stringify(value)}`, (t) => {
		t.deepEqual(parsed(schema, value), { problems: [...problems] });
	});
}
