/** The keys of a filter in pages, for filters with too many keys. */

import { z } from 'zod';
import type { PatternMatcher } from '../../../compiler/condition/operator.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import { Failure } from '../../failure.js';
import { constantOf, type Residual } from '../../filter/residual.js';
import { type FilterType, mostKeys } from '../../wire/decision/filter.js';
import type { DecisionContext } from '../decide/decide.js';
import type { FilterInput } from '../decide/normalise.js';
import { sortedBy } from '../engine/chunks.js';
import { pageToken, readPageToken } from '../listing/page-token.js';
import { randomItems, sampleSize } from '../listing/referee.js';
import { denialOf, recordFilter, requireFewKeys, residualOf, rowsGranted, validUntil } from './filter.js';

export interface KeyPage {
	/** The filter without instance keys. */
	readonly rest: { readonly type: FilterType; readonly condition?: Residual };
	readonly keys: readonly { readonly tenant: string; readonly key: string }[];
	/** Cursor for the next page; `null` on the last page. */
	readonly next: string | null;
	readonly revision: number;
	/** As in `Filter`. */
	readonly valid_until: string | null;
}

export interface KeyPageOptions {
	readonly limit: number;
	readonly cursor: string | undefined;
	/** As in `FilterOptions`. */
	readonly matches: PatternMatcher;
}

/** Position in the pages: lineage, revision, decision time, and the last key before the page. */
const Place = z.tuple([z.string(), z.int(), z.int().min(0), z.string()]);

/**
 * Returns a page of keys, sorted. All pages are from one revision and one time. Throws `Failure`: `conflict` if the
 * revision has changed or a fact has expired since the first page, `invalid` if the cursor is malformed or belongs to a
 * different request, and `unavailable` if the keys differ from the policy.
 */
export function* filterKeys(
	now: DecisionContext,
	input: FilterInput,
	{ limit, cursor, matches }: KeyPageOptions,
): Steps<KeyPage> {
	const started = performance.now();
	const { revision, lineage = '', denial } = now;
	const place = cursor === undefined ? undefined : readPlace(cursor, input, now.time);
	if (place !== undefined && (place[0] !== lineage || place[1] !== revision)) {
		throw changed(
			place[0] === lineage ? `the revision has changed from ${place[1]} to ${revision}` : 'the lineage has changed',
		);
	}
	const time = place?.[2] ?? now.time;
	const context: DecisionContext = { ...now, time };
	if (denial !== undefined || denialOf(context, input) !== undefined) {
		recordFilter(now, input, 'always_deny', started);
		return { rest: { type: 'always_deny' }, keys: [], next: null, revision, valid_until: null };
	}
	const granted = yield* rowsGranted(context, input, matches);
	if (place !== undefined && granted.expiry !== undefined && granted.expiry <= now.time) {
		throw changed('a fact has expired');
	}
	const { names } = context.facts;
	const last = place?.[3];
	const ahead: { readonly tenant: string; readonly key: string }[] = [];
	const pauses = new Pauses();
	for (const [number, found] of granted.keys) {
		const tenant = names.text(number);
		for (const { key } of found) {
			if (pauses.step()) yield;
			if (last === undefined || key > last) ahead.push({ tenant, key });
		}
	}
	// Keys are unique among the instances of a type.
	const sorted = yield* sortedBy(ahead, ({ key }) => key);
	const keys = sorted.slice(0, limit);
	requireGrants(context, input, keys);
	const others = { ...granted, keys: new Map() };
	yield* requireFewKeys(others, mostKeys);
	const rest = yield* residualOf(context, input, others);
	const constant = constantOf(rest);
	const type = constant === undefined ? 'conditional' : constant ? 'always_allow' : 'always_deny';
	const more = sorted.length > keys.length;
	const next = more ? pageToken(input, JSON.stringify([lineage, revision, time, keys.at(-1)?.key ?? ''])) : null;
	recordFilter(now, input, 'conditional', started);
	return {
		rest: { type, ...(constant === undefined ? { condition: rest } : {}) },
		keys,
		next,
		revision,
		valid_until: validUntil(granted, time),
	};
}

/** Reads a cursor. Validates the content, because clients can forge cursors. `latest` is the last valid time. */
function readPlace(cursor: string, input: FilterInput, latest: number): z.output<typeof Place> {
	const text = readPageToken(cursor, input, 'cursor');
	try {
		const place = Place.parse(JSON.parse(text));
		if (place[2] <= latest) return place;
	} catch {
		// The failure below is thrown for every malformed cursor.
	}
	throw new Failure('invalid', 'cursor is malformed: start again without `cursor`');
}

/** Checks a sample of the keys with the engine. */
function requireGrants(context: DecisionContext, input: FilterInput, keys: KeyPage['keys']): void {
	const isGranted = ({ tenant, key }: KeyPage['keys'][number]) =>
		context.engine.code({ ...input, resource: { ...input.resource, tenant, key }, time: context.time }) === 'allow';
	if (randomItems(keys, sampleSize).every(isGranted)) return;
	const { log, requestId: request_id, revision } = context;
	log.error({ request_id, revision }, 'keys of a filter differ from the policy: the request is rejected');
	context.countDifference?.();
	throw new Failure('unavailable', 'the keys differ from the policy, which is a defect: use checks or listings');
}

function changed(reason: string): Failure {
	return new Failure('conflict', `${reason} since the first page: start again without \`cursor\``);
}
