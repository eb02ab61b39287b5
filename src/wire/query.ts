import { z } from 'zod';
import { boundedArray } from './bounded.js';
import { HolderFilter, Name, Reference, Text } from './common.js';

/**
 * Query parameters. The value is a string, or a string list if the parameter is repeated. Unknown names are ignored.
 */

/**
 * Maximum numbers of searches and attribute filters in a request. They are limited because each adds a condition to
 * every row.
 */
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

/** Schema for a whole number from 1 to `maximum`. It has at most nine digits so computed offsets are exact. */
export function wholeNumberUpTo(maximum: number) {
	const message = `must be a whole number from 1 to ${maximum}`;
	return z.preprocess(parseWholeNumber, z.int(message).min(1, message).max(maximum, message));
}

/** Parameters that every list accepts: `page`, from 1, and `per_page`, up to 100. */
export const pageShape = {
	page: wholeNumberUpTo(999_999_999).default(1).describe('Page number, from 1.'),
	per_page: wholeNumberUpTo(100).default(30).describe('Maximum number of items per page.'),
};

/** Page selection in a list. */
export const PageQuery = z.object(pageShape);
export type PageQuery = z.output<typeof PageQuery>;

/** A flag: `true`, `false`, `1` or `0`. If absent, it is false. */
export const Flag = z.preprocess(parseFlag, z.boolean('must be true or false')).default(false);

/** Requests a page with counts from a list. */
export const TotalCountFlag = Flag.describe(
	'Return an object with `data`, `total_count` and `page_count` instead of a plain array.',
);

/** Text to find in keys and names. `*` matches any sequence of characters. An empty string is ignored. */
export const Search = Name.transform((text) => (text === '' ? undefined : text))
	.optional()
	.describe('Text to find in keys and names; with `*`, a pattern for the whole value.');

/** Position at which a search matches a key or name. If an operator is set, `*` is an ordinary character. */
export const SearchOperator = z
	.enum(['contains', 'startswith', 'endswith'])
	.optional()
	.describe('Match position for `search`; with an operator, `*` is an ordinary character.');
export type SearchOperator = z.output<typeof SearchOperator>;

/**
 * Searches. An object matches if any search matches. The parameter may be repeated. `undefined` if it is absent or
 * empty.
 */
export const Searches = z
	.preprocess(
		(value) => (typeof value === 'string' ? [value] : value),
		boundedArray(Text, maxSearches, `must not be repeated more than ${maxSearches} times`),
	)
	.transform((texts) => (texts.every((text) => text === '') ? undefined : texts.filter((text) => text !== '')))
	.optional()
	.describe('Text to find in keys and names; with `*`, a pattern for the whole value; may be repeated.');

/**
 * References to objects of the same kind. Any of them may match. The parameter may be repeated. `undefined` if it is
 * absent.
 */
export const References = repeated(Reference).describe('Only objects with any of these ids or keys; may be repeated.');

/** Like `References`, for role holders. */
export const Holders = repeated(HolderFilter);

function repeated<S extends z.ZodType>(item: S) {
	return z.preprocess((value) => (typeof value === 'string' ? [value] : value), boundedArray(item)).optional();
}

/** Parameter `attr_<name>=<value>`: selects objects whose attribute `<name>` equals the value. */
interface AttributeFilter {
	readonly name: string;
	readonly value: string;
}

const attributePrefix = 'attr_';

/**
 * Documentation for lists with attribute filters. These parameters contain custom attribute names in their own names.
 */
export const attributeFilterText = '`attr_<name>=<value>` selects objects whose attribute `<name>` equals the string.';

/** Adds attribute filters to a list query, as the field `attribute_filters`. */
export function withAttributeFilters<S extends z.ZodRawShape>(shape: S) {
	return z.looseObject(shape).transform((query, ctx) => {
		const attribute_filters: AttributeFilter[] = [];
		for (const [parameter, value] of Object.entries(query)) {
			if (!parameter.startsWith(attributePrefix)) continue;
			const parsed = z.tuple([Text, Text]).safeParse([parameter.slice(attributePrefix.length), value]);
			if (parsed.success) attribute_filters.push({ name: parsed.data[0], value: parsed.data[1] });
			else ctx.addIssue({ code: 'custom', message: 'must be a single string', path: [parameter], input: value });
			if (attribute_filters.length <= maxFilters) continue;
			const message = `must be omitted: a list accepts at most ${maxFilters} attribute filters`;
			ctx.addIssue({ code: 'custom', message, path: [parameter], input: value });
			break;
		}
		return { ...query, attribute_filters };
	});
}
