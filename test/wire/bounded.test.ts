import test from 'ava';
import { z } from 'zod';
import { endpoints } from '../../src/api/table.js';
import { decisionEndpoints } from '../../src/pdp/endpoint/decision-endpoints.js';
import { listingEndpoints } from '../../src/pdp/endpoint/listing-endpoints.js';
import { boundedArray, boundedRecord, choice, maxItems, maxProblems, unboundedArray } from '../../src/wire/bounded.js';
import { Attributes, Key } from '../../src/wire/common.js';
import { BulkQuery, maxBulkChecks, Query } from '../../src/wire/decision/check.js';
import { json, parsed } from './parsed.js';

/** Validation stops early after many errors in lists and maps. */

const many = 100_000;

/** Returns a schema that counts the values it validates. */
function counting() {
	let seen = 0;
	const schema = z.unknown().refine((value) => {
		seen += 1;
		return value === 'right';
	}, 'is wrong');
	return { schema, seen: () => seen };
}

test('list validation stops after twenty problems', (t) => {
	const { schema, seen } = counting();
	const result = unboundedArray(schema).safeParse(Array.from({ length: many }, () => 'wrong'));
	t.deepEqual(
		result.error?.issues.map(({ path }) => path),
		Array.from({ length: maxProblems }, (_, index) => [index]),
	);
	t.is(seen(), maxProblems);
});

test('map validation stops after twenty problems, in names and in values', (t) => {
	const { schema, seen } = counting();
	const wide = (name: string) => Object.fromEntries(Array.from({ length: many }, (_, index) => [`${name}${index}`, 1]));
	t.is(boundedRecord(Key, schema).safeParse(wide('key')).error?.issues.length, maxProblems);
	t.is(seen(), maxProblems);
	t.is(boundedRecord(Key, schema).safeParse(wide('no key')).error?.issues.length, maxProblems);
	t.is(seen(), maxProblems);
});

test('an overlong list is rejected before its items are read', (t) => {
	const { schema, seen } = counting();
	const result = boundedArray(schema, 2, 'at most 2').safeParse(['right', 'right', 'right']);
	t.deepEqual(
		result.error?.issues.map(({ message }) => message),
		['at most 2'],
	);
	const most = boundedArray(schema).safeParse(Array.from({ length: maxItems + 1 }, () => 'right'));
	t.deepEqual(
		most.error?.issues.map(({ message }) => message),
		['must have at most 10000 items'],
	);
	t.is(seen(), 0);
	t.deepEqual(boundedArray(schema, 2).parse(['right', 'right']), ['right', 'right']);
});

test('a union reports the problems of the intended shape', (t) => {
	const schema = choice(Array.isArray, boundedArray(z.string()), z.object({ texts: boundedArray(z.string()) }));
	t.deepEqual(parsed(schema, ['a', 1]), { problems: ['1: Invalid input: expected string, received number'] });
	t.deepEqual(parsed(schema, {}), { problems: ['texts: Invalid input: expected array, received undefined'] });
	t.deepEqual(parsed(schema, { texts: ['a'] }), { data: { texts: ['a'] } });
});

test('the event loop runs while a long list is validated', async (t) => {
	let turned = false;
	const slow = z.unknown().refine(() => {
		const until = performance.now() + 1;
		while (performance.now() < until);
		return true;
	});
	setImmediate(() => (turned = true));
	const list = Array.from({ length: 200 }, (_, index) => index);
	t.deepEqual(await boundedArray(slow).parseAsync(list), list);
	t.true(turned);
});

test('attribute validation stops after twenty problems', (t) => {
	const numbers = json(`{"a":[${Array.from({ length: 5_000 }, () => '1e999').join()}]}`);
	t.is(Attributes.safeParse(numbers).error?.issues.length, maxProblems);
	const check = { user: 'ann', action: 'read', resource: 'document', context: numbers };
	t.is(Query.safeParse(check).error?.issues.length, maxProblems);
});

test('the number of bulk checks is limited as documented', (t) => {
	const check = { user: 'ann', action: 'read', resource: 'document' };
	const checks = Array.from({ length: maxBulkChecks }, () => check);
	t.true(BulkQuery.safeParse(checks).success);
	t.true(BulkQuery.safeParse({ checks }).success);
	const says = 'must have at most 10000 checks; send the rest in further calls';
	t.deepEqual(parsed(BulkQuery, [...checks, check]), { problems: [`: ${says}`] });
	t.deepEqual(parsed(BulkQuery, { checks: [...checks, 'x'] }), { problems: [`checks: ${says}`] });
});

/** Returns all nested schemas, including the schema itself. */
function parts(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): Set<z.core.$ZodType> {
	if (seen.has(schema)) return seen;
	seen.add(schema);
	const values = Object.values(schema._zod.def).flatMap((value: unknown) =>
		typeof value === 'object' && value !== null && !('_zod' in value) ? Object.values(value) : [value],
	);
	for (const value of values) if (value instanceof z.core.$ZodType) parts(value, seen);
	return seen;
}

/** Requests with document objects, whose lists are limited only by the body size. */
const withDocuments: readonly string[] = [
	'importEnvironment',
	'applyDraft',
	'previewDraft',
	'findImpact',
	'runCheckTests',
	'undoChanges',
];

test('every list and map in every request has a limit', (t) => {
	let lists = 0;
	for (const endpoint of [...endpoints, ...decisionEndpoints('edge'), ...listingEndpoints('edge')]) {
		for (const part of [endpoint.params, endpoint.query, endpoint.body]) {
			for (const { _zod } of part === undefined ? [] : parts(part, new Set())) {
				if (!['array', 'record', 'map', 'set'].includes(_zod.def.type)) continue;
				lists += 1;
				t.true(_zod.traits.has('BoundedArray') || _zod.traits.has('BoundedRecord'), endpoint.name);
				const checks = _zod.def.checks?.map((check) => check._zod.def as { readonly maximum?: number }) ?? [];
				const limited = checks.some(({ maximum }) => maximum !== undefined && maximum <= maxItems);
				t.true(limited || _zod.def.type !== 'array' || withDocuments.includes(endpoint.name), endpoint.name);
			}
		}
	}
	t.true(lists > 20, 'there are lists');
});
