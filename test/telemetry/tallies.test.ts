import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import { DecisionRate } from '../../src/telemetry/decision-rate.js';
import { DecisionTally } from '../../src/telemetry/decision-tally.js';
import { Durations, histogram } from '../../src/telemetry/durations.js';
import { counter, gauge, sample } from '../../src/telemetry/metric-family.js';
import { Probe } from '../../src/telemetry/probe.js';
import { addFamilies, renderFamilies } from '../../src/telemetry/render-families.js';
import { RequestTally } from '../../src/telemetry/request-tally.js';
import { readScrape } from '../support/metrics.js';

/** Counted events, and the resulting metrics. */

test('requests are counted by endpoint and status, and timed by endpoint', async (t) => {
	const tally = new RequestTally('pdp');
	tally.add('check', 200, 0.0002);
	tally.add('check', 200, 0.3);
	tally.add('check', 503, 0.0001);
	tally.add(undefined, 404, 1_000);
	const scrape = readScrape(await renderFamilies([tally.families()]));
	const requests = (labels: Readonly<Record<string, string>>) => scrape.sum('regolith_http_requests_total', labels);
	t.is(requests({ server: 'pdp', endpoint: 'check', status: '200' }), 2);
	t.is(requests({ endpoint: 'check', status: '503' }), 1);
	t.is(requests({ endpoint: 'none', status: '404' }), 1);
	const duration = 'regolith_http_request_duration_seconds';
	t.is(scrape.types.get(duration), 'histogram');
	t.is(scrape.sum(`${duration}_count`, { endpoint: 'check' }), 3);
	t.is(scrape.sum(`${duration}_bucket`, { endpoint: 'check', le: '0.00025' }), 2);
	t.is(scrape.sum(`${duration}_bucket`, { endpoint: 'none', le: '60' }), 0);
	t.is(scrape.sum(`${duration}_bucket`, { endpoint: 'none', le: '+Inf' }), 1);
});

test('a histogram counts each duration in every bucket that includes it', (t) => {
	fc.assert(
		fc.property(fc.array(fc.double({ min: 0, max: 100, noNaN: true })), (seconds) => {
			const durations = new Durations();
			for (const one of seconds) durations.add(one);
			const { values } = histogram('duration', 'help', [[{}, durations]]);
			for (const { metricName, labels, value } of values) {
				const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']);
				if (metricName === 'duration_bucket') t.is(value, seconds.filter((one) => one <= bound).length);
				else if (metricName === 'duration_count') t.is(value, seconds.length);
			}
			t.is(values.length, new Set(values.map(({ labels }) => labels['le'])).size + 1);
		}),
	);
});

const user = { key: 'ann' };
const resource = { type: 'document', tenant: 'acme' };

test('the decision rate is averaged over the time between reports', (t) => {
	let [count, now] = [3, 1_000];
	const rate = new DecisionRate(
		() => count,
		() => now,
	);
	const after = (seconds: number, decided: number) => {
		now += seconds * 1_000;
		count += decided;
		return rate.report();
	};
	t.is(after(0, 0), 0, 'earlier decisions do not count');
	t.is(after(0.5, 4), 4, 'a time under a second counts as a second');
	t.is(after(3.5, 4), 2, 'averaged from the start');
	t.is(after(56, 292), 5);
	t.is(after(60, 6), 0.1);
	t.is(after(0.5, 50), 0.9, 'a report soon after a previous report includes its time');
	t.is(after(59.5, 550), 10);
	t.is(after(60, 1), 0, 'rounded to one decimal');
	count = 0;
	t.is(after(60, 0), 0, 'never negative');
});

test('decisions are counted by code, and by the model of the check', async (t) => {
	const tally = new DecisionTally();
	tally.add({ user, resource }, 'allow');
	tally.add({ user, resource }, 'allow');
	tally.add({ user, resource: { ...resource, key: 'plan' } }, 'no_graph_roles');
	tally.add({ user: { ...user, attributes: {} }, resource: { ...resource, key: 'plan' } }, 'allow');
	tally.add({ user, resource, context: {} }, 'no_permission');
	const { numbers } = readScrape(await renderFamilies([tally.families().slice(0, 1)]));
	t.deepEqual(
		numbers.map(({ labels, value }) => [labels, value]),
		[
			[{ outcome: 'allow', code: 'allow', model: 'rbac' }, 2],
			[{ outcome: 'allow', code: 'allow', model: 'abac' }, 1],
			[{ outcome: 'deny', code: 'no_graph_roles', model: 'rebac' }, 1],
			[{ outcome: 'deny', code: 'no_permission', model: 'abac' }, 1],
		],
	);
});

test('codes over the limit are counted together', (t) => {
	const tally = new DecisionTally();
	for (const index of Array.from({ length: 500 }).keys()) tally.add({ user, resource }, `code_${index}`);
	const values = tally.families()[0]?.values ?? [];
	t.true(values.length <= 65, String(values.length));
	t.is(
		values.reduce((sum, { value }) => sum + value, 0),
		500,
	);
});

test('metrics from several processes are merged as defined for each family', async (t) => {
	const told = (count: number) => [
		counter('asked', 'help', [sample(count, { code: 'a' }), sample(1, { code: String(count) })]),
		gauge('oldest', 'help', [sample(count)], 'min'),
		gauge('age', 'help', [sample(count)], 'max'),
	];
	const scrape = readScrape(await renderFamilies([told(3), await addFamilies([told(2), told(5)])]));
	t.is(scrape.sum('asked', { code: 'a' }), 10);
	t.is(scrape.sum('asked'), 13);
	t.is(scrape.sum('oldest'), 2);
	t.is(scrape.sum('age'), 5);
});

test('a process that does not respond counts as present for half a minute', async (t) => {
	let now = 0;
	let answer: (works: boolean) => void = () => {};
	let asked = 0;
	const ask = () => {
		asked += 1;
		return new Promise<boolean>((resolve) => {
			answer = resolve;
		});
	};
	const probe = new Probe(ask, () => now, 1);
	t.false(await probe.works(), 'the process has never answered');
	answer(true);
	await sleep(0);
	t.is(asked, 1);
	now = 29_999;
	t.true(await probe.works(), 'busy');
	now = 30_001;
	t.false(await probe.works(), 'gone');
	t.is(asked, 2, 'no second question while the first is pending');
	answer(false);
	await sleep(0);
	t.false(await probe.works());
});

test('an unreachable process is reported as down, and as up when it can be reached again', async (t) => {
	let broken = true;
	const probe = new Probe(async () => {
		if (broken) throw new Error('gone');
	});
	t.false(await probe.works());
	broken = false;
	t.true(await probe.works());
});
