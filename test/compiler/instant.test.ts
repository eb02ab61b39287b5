import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPolicy } from '@open-policy-agent/opa-wasm';
import test from 'ava';
import fc from 'fast-check';
import { durationLength, isInstant, timeBefore } from '../../compiler/condition/duration.js';
import { root } from '../support/root.js';
import { policyWasm, runOpa, writeFiles } from './engine.js';

/** Times as text, calculated by the policy (docs/decisions/0070-times-in-conditions.md). */

const path = 'regolith/instant/instant.rego';
const texts = {
	path: 'texts/texts.rego',
	text: 'package texts\n\nimport data.regolith.instant\n\nall := [instant.text(time) | some time in input]\n',
};

const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
const earlier = fc.date({ min: new Date('0001-01-01T00:00:00.000Z'), max: new Date(0), noInvalidDate: true });
/** The first and last millisecond of each month, in leap years of every kind and in common years. */
const ends = [1600, 1896, 1900, 1970, 1999, 2000, 2024, 2026, 2100, 2400].flatMap((year) =>
	Array.from({ length: 12 }, (_, month) => Date.UTC(year, month)).flatMap((start) => [start - 1, start]),
);

test('the policy formats times like JavaScript, in WebAssembly and in OPA', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'regolith-test-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const library = { path, text: await readFile(join(root, 'policy', path), 'utf8') };
	await writeFiles(join(folder, 'rego'), [library, texts]);
	await runOpa(['build', '-t', 'wasm', '-e', 'texts/all', '-o', 'b.tar.gz', 'rego'], folder);
	const policy = await loadPolicy(await policyWasm(await readFile(join(folder, 'b.tar.gz'))), 64);
	const sample = fc.sample(fc.oneof(time, earlier), 2_000).map((one) => one.getTime());
	const times = [...ends, ...sample];
	const expected = times.map((one) => new Date(one).toISOString());
	const input = JSON.stringify(times);
	await writeFile(join(folder, 'input.json'), input);
	t.deepEqual(policy.evaluate(times)[0].result, expected);
	const evaluated = await runOpa(['eval', '-d', 'rego', '-i', 'input.json', '-f', 'raw', 'data.texts.all'], folder);
	t.deepEqual(JSON.parse(evaluated), expected);
	t.true(expected.every(isInstant));
});

test('durations have a fixed length, and give a time in the past', (t) => {
	const day = 86_400_000;
	const lengths: readonly (readonly [string, number | undefined])[] = [
		['PT0S', 0],
		['P2W', 14 * day],
		['P1DT2H3M4S', day + 7_384_000],
		['PT36H', 1.5 * day],
		['P36500D', 36_500 * day],
		['P36500DT1S', undefined],
		['P1M', undefined],
		['P1Y', undefined],
		['PT', undefined],
		['P', undefined],
	];
	for (const [text, length] of lengths) t.is(durationLength(text), length, text);
	t.is(timeBefore(Date.UTC(2026, 2, 1), 'P1D'), '2026-02-28T00:00:00.000Z');
	t.is(timeBefore(Date.UTC(2026, 0, 1) + 0.9, 'PT0S'), '2026-01-01T00:00:00.000Z');
});
