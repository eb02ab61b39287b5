// @apart @both

import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import test from 'ava';
import fc from 'fast-check';
import { type RunningDecisionPoint, startDecisionPoint } from '../../src/compose/decision-point.js';
import { createLogger } from '../../src/log.js';
import { maxBulkChecks } from '../../src/wire/decision/check.js';
import { type ImpactRow, maxImpactChecks, maxImpactRows } from '../../src/wire/general/impact.js';
import { type Answer, type Client, client } from '../support/client.js';
import { applyDraft, changesBetween, environmentPath, previewDraft } from '../support/drafts.js';
import { askImpact } from '../support/impact-world.js';
import { newPlace, type Place } from '../support/management.js';
import { type Stack, shareStack } from '../support/stack.js';
import { draws, leastDrawn } from '../support/tier.js';
import { drawDecidingDocument } from './deciding-documents.js';
import { crossProduct, type Exported, type NamedQuery, namesIn } from './document-questions.js';

/**
 * Impact over HTTP: a draft's impact equals the difference between all checks before and after the draft is
 * applied.
 */

let stack: Stack;
let place: Place;
let point: RunningDecisionPoint;
let pdp: Client;
test.before('start', async () => {
	stack = await shareStack();
	const { url } = stack.api.listening;
	place = await newPlace({ url, store: stack.api.store }, stack.organization);
	point = await startDecisionPoint(stack.config, createLogger('silent'), url, place.secret);
	pdp = client(point.listening.url, place.secret);
});
test.after.always('stop', async () => {
	await point?.stop();
	await stack?.stop();
});

/** Selects a draft's changes: change `n` if bit `n % 16` is set. Either many bits are set, or a single bit. */
const mask = fc.oneof(
	fc.integer({ min: 1, max: 0xffff }),
	fc.nat({ max: 15 }).map((bit) => 1 << bit),
);

const seen = { drafts: 0, refused: 0, checks: 0, asked: 0, gained: 0, lost: 0 };

test('a draft’s impact is the difference between all checks before and after the draft', async (t) => {
	t.timeout(7_200_000);
	const law = fc.asyncProperty(fc.gen(), mask, async (random, chosen) => {
		const before = await exported();
		const target = drawDecidingDocument(random) as Exported;
		const all = changesBetween(before, target);
		const some = all.filter((_, index) => (chosen >> (index % 16)) & 1);
		// A subset is often refused because its changes need the omitted changes.
		const changes = (await previewDraft(place, some)).status === 200 ? some : all;
		const revision = await place.revision();
		await point.replica.policyReached(revision);
		const impact = await askImpact(place, changes, { limits: { checks: maxImpactChecks, rows: maxImpactRows } });
		strictEqual(await place.revision(), revision, 'an impact request changes nothing');
		// Both documents together contain every later object.
		const earlier = await decide(crossProduct(namesIn([before, target])));
		const applied = await applyDraft(place, changes);
		seen.drafts += 1;
		// On a busy machine, the request may time out with any draft.
		if (impact.status !== 200 && isGivenUp(impact.body)) return;
		if (applied.status !== 200) {
			const refusal = ({ status, body }: Answer<object>) => ({ status, ...body, id: '' });
			deepStrictEqual(refusal(impact), refusal(applied), 'refused for the same reason');
			seen.refused += 1;
			return;
		}
		strictEqual(impact.status, 200, JSON.stringify(impact.body));
		const { gains, loses, counts, truncated, left_out, base_revision } = impact.body;
		deepStrictEqual(
			{ truncated, left_out, base_revision },
			{ truncated: false, left_out: [], base_revision: revision },
		);

		await point.replica.policyReached(await place.revision());
		const later = await decide(crossProduct(namesIn([before, await exported()])));
		const changed = [...later].flatMap(([check, after]) => {
			const allowed = earlier.get(check);
			if (allowed === undefined) throw new Error(`nobody asked ${check}`);
			return allowed === after ? [] : [`${check}: ${allowed} -> ${after}`];
		});
		deepStrictEqual([...gains, ...loses].map(rowText).sort(), changed.sort());
		deepStrictEqual([counts.gained, counts.lost], [gains.length, loses.length]);
		for (const row of gains) ok(row.after.by.length > 0 && row.before.by.length === 0, JSON.stringify(row));
		for (const row of loses) ok(row.before.by.length > 0 && row.after.by.length === 0, JSON.stringify(row));
		const sum = (name: 'gained' | 'lost') => counts.by_cause.reduce((total, cause) => total + cause[name], 0);
		deepStrictEqual([sum('gained'), sum('lost')], [counts.gained, counts.lost]);
		seen.checks += later.size;
		seen.asked += counts.asked;
		seen.gained += counts.gained;
		seen.lost += counts.lost;
	});
	await fc.assert(law, { numRuns: draws(8, 'DRAFTS'), endOnFailure: true });
	t.log(JSON.stringify(seen));
	t.true(seen.drafts - seen.refused >= leastDrawn(3), JSON.stringify(seen));
});

async function exported(): Promise<Exported> {
	return (await place.http.get(environmentPath(place, 'export'))).body as unknown as Exported;
}

/** Returns the decisions, keyed by check name. True means allowed. */
async function decide(checks: readonly NamedQuery[]): Promise<ReadonlyMap<string, boolean>> {
	const allowed = new Map<string, boolean>();
	for (let start = 0; start < checks.length; start += maxBulkChecks) {
		const part = checks.slice(start, start + maxBulkChecks);
		const answer = await pdp.post<{ allow: readonly { allow: boolean }[] }>('/allowed/bulk', part);
		for (const [index, check] of part.entries()) {
			const decided = answer.body.allow[index];
			if (decided === undefined) throw new Error(JSON.stringify(answer.body));
			allowed.set(checkText(check), decided.allow);
		}
	}
	return allowed;
}

function checkText({ user, action, resource: { type, key, tenant } }: NamedQuery): string {
	return JSON.stringify([user.key, action, type, key ?? null, tenant]);
}

function isGivenUp(body: object): boolean {
	return JSON.stringify(body).includes('TAKES_TOO_LONG');
}

function rowText({ user, action, resource: { type, key }, tenant, before, after }: ImpactRow): string {
	return `${JSON.stringify([user, action, type, key, tenant])}: ${before.allow} -> ${after.allow}`;
}
