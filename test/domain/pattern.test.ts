import { loadPolicy } from '@open-policy-agent/opa-wasm';
import test from 'ava';
import { RE2JS } from 're2js';
import { buildWasm, readPolicyLibrary } from '../../compiler/opa/build.js';
import { CompiledPatterns } from '../../src/pattern/compiled-patterns.js';
import { measurePattern } from '../../src/pattern/pattern.js';
import { unicodeClasses } from '../../src/pattern/unicode-classes.js';
import { opa, policyWasm } from '../compiler/engine.js';

/** The API and the decision points accept the same regular expressions. */

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

test('decision points can compile every accepted expression', async (t) => {
	const text =
		'package regolith.check\n\ncode contains n if {\n\tsome n, pattern in input\n\tregex.is_valid(pattern)\n}\n';
	const library = (await readPolicyLibrary()).filter(({ path }) => !/^regolith\/(check|entry|explain)\//.test(path));
	const asked = [
		{ path: 'regolith/check/code.rego', text: `${text}\ndecision := {}\n` },
		{ path: 'regolith/explain/sections.rego', text: 'package regolith.explain\n\nsections := {}\n' },
	];
	const policy = await loadPolicy(await policyWasm(await buildWasm({ opa, files: [...library, ...asked] })), 512);
	for (const pattern of taken) {
		t.is(measurePattern(pattern).problem, null, pattern);
		t.deepEqual(policy.evaluate([pattern], 'regolith/check/code')[0].result, [0], pattern);
	}
});

for (const [pattern, problem] of Object.entries(refused)) {
	test(`rejects the expression ${pattern.slice(0, 40)}`, (t) => {
		t.regex(measurePattern(pattern).problem ?? '', problem);
	});
}

/** Counts the expressions compiled by RE2. */
function countCompilations(run: () => void): number {
	const { compile } = RE2JS;
	let count = 0;
	RE2JS.compile = (...given) => {
		count += 1;
		return compile.apply(RE2JS, given);
	};
	try {
		run();
	} finally {
		RE2JS.compile = compile;
	}
	return count;
}

test.serial('rejects repetitions within repetitions without compiling them', (t) => {
	const count = countCompilations(() => {
		for (const pattern of [`(?:${'ab'.repeat(400)}){1000}`, '(?:\\pL{1,30}){1,30}', '((ab){500}){2}'.repeat(70)]) {
			t.regex(measurePattern(pattern).problem ?? '', /too large/, pattern);
		}
	});
	t.is(count, 0);
});

test.serial('compiles each expression of a request once', (t) => {
	const { matches } = new CompiledPatterns();
	const count = countCompilations(() => {
		for (const text of ['x1y', 'x450y', 'y']) {
			const found = Array.from({ length: 450 }, (_, index) => matches(`^x${index + 1}y$`, text));
			t.is(found.filter(Boolean).length, text === 'y' ? 0 : 1);
		}
		t.false(matches('a**', 'a'));
		t.false(matches('a**', 'a'));
	});
	t.is(count, 451);
});
