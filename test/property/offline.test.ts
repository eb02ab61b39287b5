// @alone @both

import { deepStrictEqual } from 'node:assert';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { parseManifest, unpack } from '../../src/bundle/bundle.js';
import { createLogger } from '../../src/log.js';
import { type CopiedEnvironment, OfflineCopy } from '../../src/pdp/follow/offline-copy.js';
import { type LoadedRevision, nothingYet } from '../../src/pdp/follow/replica.js';
import type { Client } from '../support/client.js';
import { applyDraft, changesBetween, environmentPath } from '../support/drafts.js';
import { eventually } from '../support/eventually.js';
import type { Place } from '../support/management.js';
import { type OfflinePoint, startOfflinePoint } from '../support/offline-point.js';
import { freePort } from '../support/ports.js';
import { temporary } from '../support/temporary.js';
import { draws, leastDrawn } from '../support/tier.js';
import { drawDecidingDocument, times } from './deciding-documents.js';
import { crossProduct, type Exported, namesIn } from './document-questions.js';
import type { Mood } from './moody-assembler.js';
import { MoodyApi } from './pending-place.js';

/**
 * Offline copy property. Without its control plane, a decision point decides every query like the decision point
 * that wrote the copy. It never uses a damaged, truncated or foreign copy.
 */

const log = createLogger('silent');

let api: MoodyApi;
/** Unreachable control plane URL. */
let nowhere: string;
test.before('start', async () => {
	api = await MoodyApi.start();
	nowhere = `http://127.0.0.1:${await freePort()}`;
});
test.after.always('stop', () => api?.stop());

/** A chapter of a history: some changes that lead to `document`, while the compiler is in a mood. */
interface Chapter {
	readonly document: Exported;
	readonly mood: Mood;
	/** Selects change `n` if bit `n % 16` is set. */
	readonly mask: number;
	/** If true, the writing decision point restarts before the changes, and thereby begins a new copy. */
	readonly restart: boolean;
	readonly time: number;
}

const chapter: fc.Arbitrary<Chapter> = fc.record({
	document: fc.gen().map((random) => drawDecidingDocument(random) as Exported),
	mood: fc.constantFrom<Mood>('works', 'works', 'hangs', 'fails', 'blames'),
	mask: fc.nat({ max: 0xffff }),
	restart: fc.boolean(),
	time: fc.constantFrom(...times),
});

/** Damage positions, relative to the copy's length. */
const damage = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), {
	minLength: 8,
	maxLength: 8,
});

/** Event counters. */
const seen = { answers: 0, allowed: 0, pending: 0, degraded: 0, later: 0, steps: 0, refused: 0, shortened: 0 };

test('a decision point started from a copy makes the same decisions as the decision point that wrote the copy', async (t) => {
	t.timeout(7_200_000);
	const foreign = await foreignCopy(t);
	await fc.assert(
		fc.asyncProperty(
			fc.array(chapter, { minLength: 1, maxLength: 4, size: 'max' }),
			damage,
			async (chapters, draws) => {
				api.assembler.set('works');
				const place = await api.place();
				const path = join(temporary(t), 'environment.copy');
				let writer: OfflinePoint | undefined;
				try {
					for (const { document, mood, mask, restart, time } of chapters) {
						if (restart) {
							await writer?.stop();
							writer = undefined;
						}
						writer ??= await startPoint(t, place, path);
						const before = await exported(place);
						api.assembler.set(mood);
						await changeTowards(place, before, document, mask);
						await writer.replica.reached(await place.revision());
						const names = namesIn([before, await exported(place)]);
						const questions = questionsAbout(names, time);
						await compare(t, place, { writer, path, time }, questions);
					}
				} finally {
					api.assembler.set('works');
					await writer?.stop();
				}
				await assertDamaged(t, place, path, draws);
				writeFileSync(path, foreign);
				await assertSilent(t, place, path);
			},
		),
		// A history takes seconds, and there are thousands of ways to shrink its documents.
		{ numRuns: draws(3, 'HISTORIES'), endOnFailure: true },
	);
	t.log(JSON.stringify(seen));
	t.true(seen.allowed > 0, 'the grant in the foreign environment');
	for (const what of ['answers', 'refused'] as const) t.true(seen[what] >= leastDrawn(1), `never: ${what}`);
});

/** Decision time for all decision points. */
let now = 0;

/** Starts a decision point that follows the API or an unreachable address. */
function startPoint(t: ExecutionContext, place: Place, path: string, controlPlane = api.url): Promise<OfflinePoint> {
	return startOfflinePoint(
		{ controlPlane, apiKey: place.secret, path },
		{ budget: 600_000, clock: { now: () => new Date(now) }, onUnexpected: (error) => t.fail(String(error)) },
	);
}

async function exported(place: Place): Promise<Exported> {
	const answer = await place.http.get(environmentPath(place, 'export'));
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return answer.body as unknown as Exported;
}

/** Applies some changes towards a document. If a subset is refused, applies all changes. */
async function changeTowards(place: Place, before: Exported, document: Exported, mask: number): Promise<void> {
	const all = changesBetween(before, document);
	const some = all.filter((_, index) => (mask >> (index % 16)) & 1);
	if ((await applyDraft(place, some)).status === 200) return;
	const answer = await place.http.post(environmentPath(place, 'import?conflict_strategy=replace'), document);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** A decision point request. */
interface Question {
	readonly path: string;
	readonly body?: unknown;
	readonly headers?: Readonly<Record<string, string>>;
}

/** Maximum number of questions per kind, except plain checks and the listings of a user. */
const most = 6;

/** Returns all checks with reasons, all listings of users, and some attempts, other listings and searches. */
function questionsAbout(names: ReturnType<typeof namesIn>, time: number): readonly Question[] {
	const asked = {
		...names,
		users: [...names.users, 'nobody'],
		tenants: [...names.tenants, 'nowhere'],
	};
	const checks = crossProduct(asked);
	const some = <T>(list: readonly T[]) => {
		const stride = Math.max(1, Math.ceil(list.length / most));
		return list.filter((_, index) => index % stride === time % stride);
	};
	const abac = { enable_abac_user_permissions: true, enable_abac_authorized_users: true };
	const types = [...names.actions.keys()];
	const bulk = Array.from({ length: Math.ceil(checks.length / 1_000) }, (_, part) =>
		checks.slice(part * 1_000, (part + 1) * 1_000),
	);
	const onInstances = checks.filter(({ resource }) => resource.key !== undefined);
	return [
		...bulk.map((part) => ({ path: '/allowed/bulk', body: part, headers: { 'x-debug': 'true' } })),
		...some(checks).map((check) => ({ path: '/allowed', body: { ...check, use_debugger: 'attempts' } })),
		...some(checks).map(({ user, action, resource }) => ({
			path: '/allowed/all-tenants',
			body: { user, action, resource: { type: resource.type } },
		})),
		...asked.users.flatMap((user) => [
			{ path: '/user-permissions', body: { user: { key: user }, resource_types: types, context: abac } },
			{ path: '/user-permissions', body: { user: { key: user } } },
			{ path: '/user-tenants', body: { user: { key: user } } },
		]),
		...some(checks).map(({ action, resource }) => ({
			path: '/authorized_users',
			body: { action, resource, context: abac },
		})),
		{ path: '/local/role_assignments?per_page=100' },
		...some(onInstances).flatMap(({ user, action, resource: { type, key, tenant } }) => {
			const subject = { type: 'user', id: user.key };
			const resource = { type, id: key, properties: { tenant } };
			return [
				{ path: '/access/v1/evaluation', body: { subject, action: { name: action }, resource } },
				{ path: '/access/v1/search/subject', body: { subject: { type: 'user' }, action: { name: action }, resource } },
				{ path: '/access/v1/search/resource', body: { subject, action: { name: action }, resource: { type } } },
				{ path: '/access/v1/search/action', body: { subject, resource } },
			];
		}),
	];
}

/** Sends all questions to a decision point. */
async function ask(http: Client, questions: readonly Question[]) {
	const answers = [];
	for (const { path, body, headers = {} } of questions) {
		const answer = body === undefined ? await http.get(path) : await http.post(path, body, { headers });
		const revisions = [answer.revision, answer.headers.get('x-policy-revision')];
		answers.push({ path, body, status: answer.status, revisions, answer: answer.body });
	}
	return answers;
}

/** A decision point with its copy, and the decision time. */
interface Writing {
	readonly writer: OfflinePoint;
	readonly path: string;
	readonly time: number;
}

/** Starts a decision point from the copy, without a control plane, and compares all results. */
async function compare(
	t: ExecutionContext,
	place: Place,
	{ writer, path, time }: Writing,
	questions: readonly Question[],
): Promise<void> {
	// The copy is written after the decision point has changed, and a new policy may arrive between two questions.
	const { expected, answers, held } = await eventually(async () => {
		const held = writer.replica.current();
		const reader = await startFromCopy(t, place, path);
		try {
			now = time;
			const [expected, answers] = [await ask(writer.http, questions), await ask(reader.http, questions)];
			const isSettled =
				held === writer.replica.current() && isDeepStrictEqual(state(held), state(reader.replica.current()));
			return isSettled ? { expected, answers, held } : undefined;
		} finally {
			now = 0;
			await reader.stop();
		}
	}).then((settled) => settled ?? t.fail());
	for (const [index, answer] of answers.entries()) deepStrictEqual(answer, expected[index]);
	const text = JSON.stringify(answers);
	seen.answers += answers.length;
	seen.allowed += text.split('"allow":true').length - 1;
	seen.pending += text.split('"policy_pending"').length - 1;
	seen.degraded += held?.degraded ? 1 : 0;
	seen.later += time > 0 ? 1 : 0;
}

/** Returns a value to identify an environment's state at a decision point. */
function state(held: LoadedRevision | undefined) {
	return held && { revision: held.revision, policyRevision: held.policyRevision, degraded: held.degraded };
}

/** Starts a decision point from a frozen copy, and waits until it has replayed the copy. */
async function startFromCopy(t: ExecutionContext, place: Place, path: string): Promise<OfflinePoint> {
	const still = `${path}.still`;
	copyFileSync(path, still);
	const reader = await startPoint(t, place, still, nowhere);
	await reader.replica.reached(0);
	return reader;
}

/** Asserts that a decision point with a damaged copy has an earlier state in the same history, or no state. */
async function assertDamaged(t: ExecutionContext, place: Place, path: string, draws: readonly number[]): Promise<void> {
	const whole = readFileSync(path);
	const copy = await readCopy(place, path);
	if (copy === undefined) return t.fail('there is no copy');
	seen.steps += copy.bundles.length - 1;
	for (const [index, draw] of draws.entries()) {
		const harm = harms[index % harms.length] ?? cut;
		writeFileSync(path, harm(whole, draw));
		const found = await readCopy(place, path);
		if (found === undefined) await assertSilent(t, place, path);
		else {
			const text = `${harm.name} at ${draw}`;
			t.deepEqual(found.bundles, copy.bundles.slice(0, found.bundles.length), text);
			t.true(found.asOf <= copy.asOf, text);
			const last = parseManifest(await unpack(found.bundles.at(-1)?.bytes ?? whole));
			const reader = await startFromCopy(t, place, path);
			t.is(reader.replica.revision, Number(last.revision), text);
			await reader.stop();
		}
		seen[found === undefined ? 'refused' : 'shortened'] += 1;
	}
}

type Harm = (whole: Buffer, draw: number) => Buffer;

const cut: Harm = (whole, draw) => whole.subarray(0, placeIn(whole, draw));

const flip: Harm = (whole, draw) => {
	const changed = Buffer.from(whole);
	const at = placeIn(whole, draw);
	changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
	return changed;
};

/** Returns a position in a copy. Half the draws hit the first record, which is the largest. */
function placeIn(whole: Buffer, draw: number): number {
	const tail = firstRecord + (records(whole)[0]?.length ?? 0);
	return Math.floor(draw < 0.5 ? 2 * draw * tail : tail + (2 * draw - 1) * (whole.length - tail));
}

/** Offset of the first record, which comes after the magic number and the salt. */
const firstRecord = 24;

function records(whole: Buffer): readonly Buffer[] {
	const found: Buffer[] = [];
	for (let at = firstRecord; at < whole.length; ) {
		const length = 4 + 12 + whole.readUInt32BE(at) + 16;
		found.push(whole.subarray(at, at + length));
		at += length;
	}
	return found;
}

const omit: Harm = (whole, draw) => {
	const all = records(whole);
	const gone = Math.floor(all.length * draw);
	return Buffer.concat([whole.subarray(0, firstRecord), ...all.filter((_, index) => index !== gone)]);
};

const swap: Harm = (whole, draw) => {
	const all = records(whole);
	const at = Math.floor(all.length * draw);
	const [before, moved, after] = [all.slice(0, at), all.slice(at, at + 1), all.slice(at + 1)];
	const [next = [], rest = []] = [after.slice(0, 1), after.slice(1)];
	return Buffer.concat([whole.subarray(0, firstRecord), ...before, ...next, ...moved, ...rest]);
};

const harms: readonly Harm[] = [cut, flip, omit, swap];

function readCopy({ secret }: Place, path: string): Promise<CopiedEnvironment | undefined> {
	return new OfflineCopy(path, secret, log).read();
}

/** Asserts that a decision point with this copy and no control plane serves nothing. */
async function assertSilent(t: ExecutionContext, place: Place, path: string): Promise<void> {
	const point = await startPoint(t, place, path, nowhere);
	await eventually(() => point.replica.state.detail !== nothingYet);
	t.is((await point.http.get('/ready')).status, 503);
	const check = { user: 'ann', action: 'read', resource: 'document' };
	t.is((await point.http.post('/allowed', check)).status, 503);
	await point.stop();
}

/** A document that allows a check: random documents may allow none. */
const granting = {
	format: 'regolith-environment',
	version: 1,
	schema: {
		resources: { document: { name: 'Document', actions: { read: { name: 'Read' } } } },
		roles: { reader: { name: 'Reader', permissions: ['document:read'] } },
	},
	facts: {
		tenants: { acme: { name: 'Acme' } },
		users: { ann: {} },
		role_assignments: [{ user: 'ann', role: 'reader', tenant: 'acme' }],
	},
};
const granted = { user: 'ann', action: 'read', resource: { type: 'document', tenant: 'acme' } };

/** Returns the copy of a different environment, after a comparison of an allowed check. */
async function foreignCopy(t: ExecutionContext): Promise<Buffer> {
	const path = join(temporary(t), 'foreign.copy');
	const place = await api.place();
	const imported = await place.http.post(environmentPath(place, 'import'), granting);
	t.is(imported.status, 200, JSON.stringify(imported.body));
	const writer = await startPoint(t, place, path);
	await eventually(async () => writer.replica.current()?.policyRevision === (await place.revision()));
	await compare(t, place, { writer, path, time: 0 }, [{ path: '/allowed', body: granted }]);
	await writer.stop();
	return readFileSync(path);
}
