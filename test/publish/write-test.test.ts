import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { compile, documentBytes, type Json, type Model } from '../../compiler/index.js';
import { checkRego, readPolicyLibrary } from '../../compiler/opa/build.js';
import { runToEnd } from '../../compiler/steps.js';
import { type CheckBody, checkBody, emptyCheckForm } from '../../src/console/model/check/check-form.js';
import { attemptExcerpts } from '../../src/console/model/policy/rego-lines.js';
import { factsOfCheck } from '../../src/impact/facts-of-check.js';
import { writeTest } from '../../src/impact/write-test.js';
import { findAttempts } from '../../src/pdp/attempt/attempts.js';
import type { EngineInput } from '../../src/pdp/engine/engine.js';
import { FactsIndex } from '../../src/pdp/facts/facts-index.js';
import type { Attempt } from '../../src/wire/decision/attempt.js';
import { opa, packageRoot, runOpa, wasmEngine, writeFiles } from '../compiler/engine.js';

/** Checks written as tests: `opa test` confirms the policy's decisions. */

const time = 1_000;

async function modelOfCase(name: string): Promise<Model> {
	return JSON.parse(await readFile(join(packageRoot, 'test/case', name, 'model.json'), 'utf8')) as Model;
}

/**
 * Returns a check for each user and action, on each instance in the instance's tenant, and on each resource without an
 * instance.
 */
function possibleChecks({ schema, facts }: Model): readonly CheckBody[] {
	const tenant = facts.tenants[0]?.key ?? 'default';
	const places = schema.resources.flatMap(({ key: type, actions }) => [
		...actions.map((action) => ({ type, action: action.key, key: undefined, tenant })),
		...facts.instances
			.filter((instance) => instance.type === type)
			.flatMap((instance) =>
				actions.map((action) => ({ type, action: action.key, key: instance.key, tenant: instance.tenant })),
			),
	]);
	return facts.users.flatMap((user) =>
		places.map(({ type, action, key, tenant: home }) => {
			const form = { ...emptyCheckForm, user, action, resource: type, instance: key ?? '', tenant: home };
			const check = checkBody(form);
			if (check === null) throw new Error(JSON.stringify(form));
			return check;
		}),
	);
}

const cases = [
	'002-roles-in-tenants',
	'004-hostile-keys',
	'007-folders-and-documents',
	'008-cycles',
	'009-condition-sets',
	'011-times-and-related-instances',
	'015-conditional-relationships',
];

for (const name of cases) {
	test(`generated tests for the checks of ${name} are formatted and strict, and pass`, async (t) => {
		t.timeout(300_000);
		const model = await modelOfCase(name);
		const compiled = compile(model);
		if (!('policy' in compiled)) throw new Error(JSON.stringify(compiled.diagnostics));
		const engine = await wasmEngine(compiled.policy);
		const bytes = documentBytes(model);
		engine.setData(bytes);
		const context = { facts: FactsIndex.read(bytes), revision: 1, policyRevision: 1, time };
		const texts: string[] = [];
		const seen = { allowed: 0, denied: 0 };
		for (const check of possibleChecks(model)) {
			const input = { ...check, time } as unknown as EngineInput;
			const allow = engine.ask('regolith/check/code', input as unknown as Json) === 'allow';
			const write = (attempt?: Attempt) => {
				const facts = runToEnd(factsOfCheck(context.facts, input, attempt));
				t.is(facts.minimal, attempt !== undefined && attempt.by !== 'set_rule');
				const text = writeTest({ input, allow, facts, schema: model.schema, revision: 1 });
				// Each test gets its own package. If several rules in a package had the same name, a single passing rule
				// would be enough.
				texts.push(text.replace('package checks_test', `package checks_${texts.length}_test`));
			};
			write();
			seen[allow ? 'allowed' : 'denied'] += 1;
			if (!allow) continue;
			const reasons = engine.ask('regolith/explain/sections', input as unknown as Json);
			const found = runToEnd(findAttempts(context, { input, allowed: true, reasons })).attempts;
			t.true(found.length > 0, JSON.stringify(check));
			for (const attempt of found) {
				write(attempt);
				const shown = attemptExcerpts(compiled.policy, attempt);
				t.is(shown[0]?.file, attempt.policy.file);
				for (const { file, from, text, marked } of shown) {
					const lines = compiled.policy.find(({ path }) => path === file)?.text.split('\n') ?? [];
					t.deepEqual(lines.slice(from - 1, from - 1 + text.split('\n').length), text.split('\n'));
					t.true(marked.length > 0 && marked.every((line) => !lines[line - 1]?.startsWith('#')));
				}
			}
		}
		t.true(seen.allowed > 0 && seen.denied > 0, JSON.stringify(seen));
		const tests = texts.map((text, index) => ({ path: `case_${index}_test.rego`, text }));
		const library = await readPolicyLibrary();
		await checkRego({ opa, files: [...library, ...compiled.policy, ...tests] });
		const folder = await mkdtemp(join(tmpdir(), 'regolith-test-'));
		t.teardown(() => rm(folder, { recursive: true, force: true }));
		const tables = { path: 'data.json', text: JSON.stringify(compiled.data) };
		await writeFiles(folder, [...library, ...compiled.policy, ...tests, tables]);
		const said = await runOpa(['test', '--timeout', '60s', '.'], folder).catch(
			(error: unknown) => (error as { readonly stdout: string }).stdout,
		);
		t.regex(said, new RegExp(`PASS: ${tests.length}/${tests.length}`));
	});
}
