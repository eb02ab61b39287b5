import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { Name, Reference, Text } from './common.js';

/** Query parameters: they arrive as text, or as a list of texts when repeated. Unknown names are ignored. */

/** The most searches, and the most filters by attributes, of one request: each is a condition on every row. */
const maxSearches = 100;
const maxFilters = 20;

function parseWholeNumber(value: unknown): unknown {
	return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

function parseFlag(value: unknown): unknown {
	const word = typeof value === 'string' ? value.toLowerCase() : value;
	if (word === 'true' || word === '1') return true;
	return word === 'false' || word === '0' ? false : value;
}

/** A whole number from 1 to `maximum`, of at most nine digits, so that an offset computed from it stays exact. */
export function wholeNumberUpTo(maximum: number) {
	const message = `must be a whole number from 1 to ${maximum}`;
	return z.preprocess(parseWholeNumber, z.int(message).min(1, message).max(maximum, message));
}

/** The parameters of every list: `page` from 1, `per_page` up to 100. */
export const pageShape = {
	page: wholeNumberUpTo(999_999_999).default(1).describe('Which page, from 1.'),
	per_page: wholeNumberUpTo(100).default(30).describe('How many items a page has at most.'),
};

/** Which part of a list is asked for. */
export const PageQuery = z.object(pageShape);
export type PageQuery = z.output<typeof PageQuery>;

/** A yes or no: `true`, `false`, `1` or `0`; no when absent. */
export const Flag = z.preprocess(parseFlag, z.boolean('must be true or false')).default(false);

/** What to look for in keys and names; `*` stands for any run of characters. Empty text is no search. */
export const Search = Name.transform((text) => (text === '' ? undefined : text))
	.optional()
	.describe('What to look for in keys and names: a part of them, or with `*` a pattern for the whole.');

/** Where a search has to be found in a key or name; then `*` is an ordinary character. */
export const SearchOperator = z
	.enum(['contains', 'startswith', 'endswith'])
	.optional()
	.describe('Where `search` has to be found; with an operator, `*` is an ordinary character.');
export type SearchOperator = z.output<typeof SearchOperator>;

/** Searches, any of which may match; the parameter may be repeated. `undefined` when absent or empty. */
export const Searches = z
	.preprocess(
		(value) => (typeof value === 'string' ? [value] : value),
		boundedArray(Text, maxSearches, `must be given at most ${maxSearches} times`),
	)
	.transform((texts) => (texts.every((text) => text === '') ? undefined : texts.filter((text) => text !== '')))
	.optional()
	.describe(
		'What to look for in keys and names: a part of them, or with `*` a pattern for the whole; may be repeated.',
	);

/** References of one kind, any of which may match; the parameter may be repeated. `undefined` when absent. */
export const References = z
	.preprocess((value) => (typeof value === 'string' ? [value] : value), boundedArray(Reference))
	.optional()
	.describe('Only objects with any of these ids or keys; may be repeated.');

/** One `attr_<name>=<value>` of a list: only objects whose attribute of that name is that text. */
interface AttributeFilter {
	readonly name: string;
	readonly value: string;
}

const attributePrefix = 'attr_';

/** Text for the documentation of such lists, whose parameters are named after the caller's own attributes. */
export const attributeFilterText = '`attr_<name>=<value>` keeps those whose attribute `<name>` is that text.';

/** The query of a list that can also be filtered by attributes; adds them as `attribute_filters`. */
export function withAttributeFilters<S extends z.ZodRawShape>(shape: S) {
	return z.looseObject(shape).transform((query, ctx) => {
		const attribute_filters: AttributeFilter[] = [];
		for (const [parameter, value] of Object.entries(query)) {
			if (!parameter.startsWith(attributePrefix)) continue;
			const parsed = z.tuple([Text, Text]).safeParse([parameter.slice(attributePrefix.length), value]);
			if (parsed.success) attribute_filters.push({ name: parsed.data[0], value: parsed.data[1] });
			else ctx.addIssue({ code: 'custom', message: 'must be a single string', path: [parameter], input: value });
			if (attribute_filters.length <= maxFilters) continue;
			const message = `must not be given: a list takes at most ${maxFilters} such filters`;
			ctx.addIssue({ code: 'custom', message, path: [parameter], input: value });
			break;
		}
		return { ...query, attribute_filters };
	});
}
