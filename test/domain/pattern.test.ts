import { loadPolicy } from '@open-policy-agent/opa-wasm';
import test from 'ava';
import { buildWasm, readPolicyLibrary } from '../../compiler/opa/build.js';
import { patternProblem } from '../../src/domain/pattern.js';
import { unicodeClasses } from '../../src/domain/unicode-classes.js';
import { opa, policyWasm } from '../compiler/engine.js';

/** What the API takes for a regular expression is one where decisions are made. */

const taken = [
	'',
	'^[a-z]+@acme\\.com$',
	'(?i)straße',
	'(?P<name>a|b)',
	'\\(?<a',
	'[(?<]a',
	'\\Q(?<a\\E',
	'[]a]',
	'[[:^alpha:](?<]',
	'(?:a{1,20}){1,20}',
	'.{1000}',
	`^${'(?:'.repeat(240)}a${')'.repeat(240)}$`,
	'x'.repeat(1000),
	'^\\pL{1,20}$',
	'\\p{^Greek}',
	'\\pL[\\pN\\P{Latin}]',
	'\\\\p{',
	'\\Q\\p{Emoji}\\E',
	'[^\\pL\\pN]{40}',
	'[à-ÿΑ-Ω]{1,500}',
	...[...unicodeClasses].map((name) => `\\p{${name}}`),
];

const refused = {
	'(?<name>a)': /`\(\?P<name>…\)`/,
	'a[b](?<name>c)': /\(\?P</,
	'\\p{Emoji}': /Unicode class `Emoji`/,
	'[a\\P{^Kawi}]': /Unicode class `Kawi`/,
	'\\p{Cn}': /Unicode class `Cn`/,
	'(?:\\pL{1,30}){1,30}': /too large/,
	'\\pL{1,50}': /too large/,
	'\\pL{1000}': /too large/,
	[`(?:${'ab'.repeat(400)}){1000}`]: /too large/,
	'(?=a)': /\(\?=/,
	'a**': /\*\*/,
};

test('what is taken is known to decision points', async (t) => {
	const text =
		'package regolith.check\n\ncode contains n if {\n\tsome n, pattern in input\n\tregex.is_valid(pattern)\n}\n';
	const library = (await readPolicyLibrary()).filter(({ path }) => !/^regolith\/(check|entry|explain)\//.test(path));
	const asked = [
		{ path: 'regolith/check/code.rego', text: `${text}\ndecision := {}\n` },
		{ path: 'regolith/explain/sections.rego', text: 'package regolith.explain\n\nsections := {}\n' },
	];
	const policy = await loadPolicy(await policyWasm(await buildWasm({ opa, files: [...library, ...asked] })), 512);
	for (const pattern of taken) {
		t.is(patternProblem(pattern), null, pattern);
		t.deepEqual(policy.evaluate([pattern], 'regolith/check/code')[0].result, [0], pattern);
	}
});

for (const [pattern, problem] of Object.entries(refused)) {
	test(`refused: ${pattern.slice(0, 40)}`, (t) => {
		t.regex(patternProblem(pattern) ?? '', problem);
	});
}
