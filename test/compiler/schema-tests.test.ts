// @alone @both

/** The generated tests pass for compiler output, and fail if a rule body is missing or a decision differs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { compile, type Json, type RegoFile, type Schema, writeTests } from '../../compiler/index.js';
import { checkRego, readPolicyLibrary } from '../../compiler/opa/build.js';
import { noFacts } from '../support/no-facts.js';
import { casesOfTier, draws, inPush } from '../support/tier.js';
import { opa, runOpa, writeFiles } from './engine.js';
import { schema as anySchema, schemaArbitrary, text } from './model.js';
import { schemaOfCase } from './schema-of-case.js';

/** A compiled schema and its tests. */
interface Tested {
	readonly policy: readonly RegoFile[];
	readonly tests: readonly RegoFile[];
	readonly data: Json;
}

function tested(schema: Schema): Tested {
	const compiled = compile({ schema, facts: noFacts });
	if (!('policy' in compiled)) throw new Error(`the schema has errors: ${JSON.stringify(compiled.diagnostics)}`);
	return { policy: compiled.policy, tests: writeTests(schema), data: compiled.data };
}

/** Runs `opa test` as a policy engineer does. Returns `null` if every test passes, else the output. */
async function outcome(t: ExecutionContext, { policy, tests, data }: Tested): Promise<string | null> {
	const folder = await mkdtemp(join(tmpdir(), 'regolith-test-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const document = { path: 'data.json', text: JSON.stringify(data) };
	await writeFiles(folder, [...(await readPolicyLibrary()), ...policy, ...tests, document]);
	try {
		const passed = await runOpa(['test', '--timeout', '60s', '.'], folder);
		return /^PASS: (\d+)\/\1$/m.test(passed) ? null : passed;
	} catch (error) {
		const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
		return `${stdout}${stderr}`;
	}
}

const cases = [
	'001-empty-environment',
	'002-roles-in-tenants',
	'003-roles-extend-roles',
	'004-hostile-keys',
	'006-user-permissions',
	'007-folders-and-documents',
	'008-cycles',
	'009-condition-sets',
	'011-times-and-related-instances',
	'012-computed-roles',
	'014-derivations-from-computed-roles',
];

for (const name of cases) {
	inPush(`the tests of ${name} are formatted and strict, and pass`, async (t) => {
		const it = tested(await schemaOfCase(name));
		await t.notThrowsAsync(checkRego({ opa, files: [...(await readPolicyLibrary()), ...it.policy, ...it.tests] }));
		t.is(await outcome(t, it), null);
	});
}

test('the tests of random schemas are formatted and strict, and pass', async (t) => {
	await fc.assert(
		fc.asyncProperty(anySchema, async (schema) => {
			const it = tested(schema);
			await checkRego({ opa, files: [...(await readPolicyLibrary()), ...it.policy, ...it.tests] });
			t.is(await outcome(t, it), null);
		}),
		{ numRuns: draws(12) },
	);
});

test('the order of rows does not affect the generated tests', (t) => {
	const reversed = <T>(rows: readonly T[]) => [...rows].reverse();
	fc.assert(
		fc.property(anySchema, (schema) => {
			const { resources, roles, condition_sets, set_rules } = schema;
			const shuffled = {
				resources: reversed(resources).map((resource) => ({
					...resource,
					actions: reversed(resource.actions),
					roles: reversed(resource.roles).map((role) => ({ ...role, derivations: reversed(role.derivations) })),
				})),
				roles: reversed(roles).map((role) => ({ ...role, permissions: reversed(role.permissions) })),
				condition_sets: reversed(condition_sets),
				set_rules: reversed(set_rules),
			};
			t.deepEqual(writeTests(shuffled), writeTests(schema));
		}),
	);
});

/** Returns the lines of generated tests without literals and path keys. Repetitions within a line are collapsed. */
function skeleton(schema: Schema): readonly string[] {
	const [file] = writeTests(schema);
	const bare = (file?.text ?? '')
		.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
		.replaceAll(/\btest_set_rule_\d+/g, 'test_set_rule_0')
		// Each part of an expression is a look-up, possibly negated.
		.replaceAll(/(?:not )?(?:\bcomputed_\d+(?:_any_\d+)?\(roles\)|"" in roles)/g, 'computed_0(roles)')
		.replaceAll(
			/\b(test_\w+|actions|resource_roles|computed_roles|derivations|set_rules|user_sets|resource_sets)(?:\.\w+|\[""\])/g,
			'$1[""]',
		)
		.replaceAll(/""(?:, "")+/g, '""')
		.replaceAll(/set\(\),$/gm, '{""},');
	return [...new Set(bare.split('\n'))];
}

test('user text never becomes code', async (t) => {
	const schemas = await Promise.all(cases.map(schemaOfCase));
	const sets = await schemaOfCase('009-condition-sets');
	const ofType = (wanted: string) => sets.condition_sets.filter(({ type }) => type === wanted);
	const parts = ['userset', 'resourceset'].map((type) => ({ ...sets, condition_sets: ofType(type), set_rules: [] }));
	const known = new Set([...schemas, ...parts].flatMap(skeleton));
	const hostile = schemaArbitrary({ key: () => text, name: text, description: fc.option(text), least: 0, most: 4 });
	fc.assert(
		fc.property(hostile, (schema) => {
			t.deepEqual(
				skeleton(schema).filter((line) => !known.has(line)),
				[],
			);
		}),
	);
});

/** Returns all variants of a policy in which a single rule body is missing. */
function sabotaged(policy: readonly RegoFile[]): readonly { readonly gone: string; readonly policy: RegoFile[] }[] {
	return policy.flatMap((file, at) => {
		const parts = file.text.split('\n\n');
		return parts.flatMap((gone, index) => {
			if (!/^[^#\n]/m.test(gone) || /^(?:package|import) /m.test(gone)) return [];
			const text = `${parts.filter((_, other) => other !== index).join('\n\n')}\n`;
			return [{ gone: `${file.path}: ${gone}`, policy: policy.with(at, { ...file, text }) }];
		});
	});
}

for (const name of casesOfTier(['007-folders-and-documents', '003-roles-extend-roles', '008-cycles'])) {
	test(`the tests of ${name} fail if any rule body is missing`, async (t) => {
		const it = tested(await schemaOfCase(name));
		const variants = sabotaged(it.policy);
		t.true(variants.length >= 3);
		for (const { gone, policy } of variants) {
			t.not(await outcome(t, { ...it, policy }), null, `no test missed ${gone}`);
		}
	});
}

/** Changes to a policy or its data. Each changes decisions or the environment's actions. */
const wrong: Readonly<Record<string, (text: string) => string>> = {
	'a role grants more': (text) => text.replace('"write":{"editor":null', '"write":{"reader-1":null,"editor":null'),
	'a role grants less': (text) => text.replace('"list":{"editor":null,"viewer":null}', '"list":{"editor":null}'),
	'an additional action': (text) => text.replace('"actions":{"account":{', '"actions":{"account":{"close":null,'),
	'a missing condition': (text) => text.replace(/\n\tnot data\.regolith\.rebac\.assigned\(.*\)/, ''),
	'a different relation': (text) => text.replace('relations[object].owned_by', 'relations[object].parent'),
	'a different source role': (text) => text.replace('roles.folder.editor.held', 'roles.folder.viewer.held'),
};

test('the tests fail for a policy with different decisions', async (t) => {
	const it = tested(await schemaOfCase('007-folders-and-documents'));
	for (const [what, change] of Object.entries(wrong)) {
		const data: Json = JSON.parse(change(JSON.stringify(it.data)));
		const policy = it.policy.map((file) => ({ ...file, text: change(file.text) }));
		t.not(
			JSON.stringify({ policy, data }),
			JSON.stringify({ policy: it.policy, data: it.data }),
			`not changed: ${what}`,
		);
		t.not(await outcome(t, { ...it, policy, data }), null, what);
	}
});

test('generated tests grow linearly with the schema', (t) => {
	const schemaWith = (count: number): Schema => ({
		condition_sets: [],
		set_rules: [],
		resources: Array.from({ length: count }, (_, index) => ({
			key: `type${index}`,
			name: 'Type',
			description: null,
			relations: [],
			roles: [],
			actions: [{ key: 'read', name: 'Read', description: null }],
		})),
		roles: Array.from({ length: count }, (_, index) => ({
			key: `role${index}`,
			name: 'Role',
			description: null,
			permissions: [{ resource: `type${index}`, action: 'read' }],
			extends: index === 0 ? [] : [`role${index - 1}`],
		})),
	});
	const size = (count: number) => writeTests(schemaWith(count)).reduce((sum, file) => sum + file.text.length, 0);
	t.true(size(400) - size(200) < 2.2 * (size(200) - size(100)));
});
