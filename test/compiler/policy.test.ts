/** Runs the tests of the hand-written policy, and checks the compiler output that these tests depend on. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { operators } from '../../compiler/condition/operator.js';
import { compilePolicy } from '../../compiler/index.js';
import type { ConditionSet, Json, ResourceRole, Schema } from '../../compiler/model.js';
import {
	buildWasm,
	checkRego,
	entrypoints,
	OpaFailure,
	opaVersion,
	readPolicyLibrary,
	rememberedVersion,
} from '../../compiler/opa/build.js';
import { userSet } from '../support/conditions.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';
import { opa, packageRoot, runOpa, wasmEngine } from './engine.js';
import { schemaOfCase } from './schema-of-case.js';

/** Writes the compiled output as the expected output, to be reviewed and committed. */
const update = process.env['UPDATE'] === '1';

test('opa test passes on policy/', async (t) => {
	const report = await runOpa(['test', '--timeout', '60s', '--format', 'json', 'policy'], packageRoot);
	const results: readonly { readonly fail?: boolean }[] = JSON.parse(report);
	t.true(results.length > 10);
	t.deepEqual(
		results.filter((result) => result.fail === true),
		[],
	);
});

test('policy/ is formatted and passes strict checks', async (t) => {
	await t.notThrowsAsync(runOpa(['check', '--strict', 'policy'], packageRoot));
	await t.notThrowsAsync(runOpa(['fmt', '--fail', '--list', 'policy'], packageRoot));
});

test('the library contains the policy without its tests, at the paths of its packages', async (t) => {
	const library = await readPolicyLibrary();
	t.true(library.length > 0);
	for (const { path, text } of library) {
		t.false(path.endsWith('_test.rego'));
		t.is(/^package (.*)$/m.exec(text)?.[1]?.replaceAll('.', '/'), path.slice(0, path.lastIndexOf('/')));
	}
});

/** Matches a reference to a whole facts table, rather than to one of its members. */
const wholeTable = /data\.regolith\.facts(?:\.\w+)?(?![\w.[])/;

test('no rule reads a whole facts table, which a stock OPA would convert in each check', async (t) => {
	t.regex('closures := data.regolith.facts.closures\n', wholeTable);
	t.regex('held(user, object, data.regolith.facts)', wholeTable);
	const cases = await Promise.all(['007-folders-and-documents', '008-cycles', '009-condition-sets'].map(schemaOfCase));
	const generated = cases.flatMap((schema) => compilePolicy(schema).policy ?? []);
	t.true(generated.length > 20);
	for (const { path, text } of [...(await readPolicyLibrary()), ...generated]) t.notRegex(text, wholeTable, path);
});

const named = (name: string) => ({ key: name.toLowerCase(), name, description: null });
const role = (name: string): ResourceRole => ({
	...named(name),
	permissions: [],
	extends: [],
	derivations: [],
	no_direct_roles_on_object: false,
});

const resourceSet = (name: string, selects: ConditionSet['selects']): ConditionSet => ({
	...named(name),
	type: 'resourceset',
	resource: 'document',
	parent: null,
	selects,
});

/** Schema for the tests in `policy/`. In these tests, role grants are data. */
const environment: Schema = {
	condition_sets: [
		{ ...userSet('seniors', { 'user.level': { 'greater-than-equals': 5 } }), name: 'Seniors' },
		{ ...userSet('__autogen_viewer', {}), selects: { role: 'viewer' } },
		resourceSet('Drafts', { conditions: { 'resource.status': { equals: 'draft' } } }),
		resourceSet('__autogen_document', { resource: 'document' }),
	],
	set_rules: [
		{ user_set: '__autogen_viewer', resource: 'document', action: 'sign', resource_set: 'drafts' },
		{ user_set: 'seniors', resource: 'document', action: 'sign', resource_set: '__autogen_document' },
	],
	resources: [
		{
			...named('Document'),
			description: 'The resource type of the tests of this policy.',
			actions: [named('Write'), named('Read'), named('Sign')],
			roles: [
				role('Author'),
				{
					...role('Reader'),
					derivations: [{ relation: 'parent', role: 'keeper', no_direct_roles_on_object: true }],
				},
			],
			relations: [{ ...named('Parent'), subject: 'folder' }],
		},
		{ ...named('Folder'), actions: [], roles: [role('Keeper')], relations: [] },
	],
	roles: [{ ...named('Viewer'), permissions: [], extends: [] }],
};

test('the packages used by the tests in policy/ match the compiler’s output', async (t) => {
	const { policy } = compilePolicy(environment);
	t.is(policy?.length, 13);
	for (const { path, text } of policy ?? []) {
		const file = join(packageRoot, 'policy', path.replace(/\.rego$/, '_test.rego'));
		if (update) {
			await mkdir(dirname(file), { recursive: true });
			await writeFile(file, text);
		}
		t.is(text, await readFile(file, 'utf8'), path);
	}
});

test('a module has every entrypoint', async (t) => {
	const engine = await wasmEngine([]);
	for (const entrypoint of entrypoints) {
		t.not(engine.ask(entrypoint, {}), null, entrypoint);
	}
});

test('equal files compile to equal bytes, in any order', async (t) => {
	const read = { key: 'read', name: 'Read', description: null };
	const { policy } = compilePolicy({
		condition_sets: [],
		set_rules: [],
		resources: [{ ...read, key: 'document', actions: [read], roles: [], relations: [] }],
		roles: [],
	});
	const files = [...(await readPolicyLibrary()), ...(policy ?? [])];
	t.deepEqual(await buildWasm({ opa, files }), await buildWasm({ opa, files: [...files].reverse() }));
});

/** Built-in attributes in conditions. Rego's compiler knows some of their types. */
const builtIn = {
	user: ['key', 'roles', 'tenants', 'email', 'roles.a', 'tenants.0', 'key.a'],
	resource: ['key', 'type', 'tenant', 'tenant.a'],
	tenant: ['key'],
};

/** Returns every operator on every built-in attribute, with a value and with references to all built-in attributes. */
function builtInConditions(): readonly Json[] {
	const attributes = builtIn.user.map((name) => `user.${name}`);
	const refs = Object.entries(builtIn).flatMap(([object, names]) => names.map((name) => `${object}.${name}`));
	const comparisons = operators.flatMap(({ name, match, literal, example }): readonly Json[] => {
		const others = match === undefined && literal !== true ? refs.map((ref) => ({ ref })) : [];
		return [example, ...others].map((operand) => ({ [name]: operand }));
	});
	return attributes.flatMap((attribute) =>
		comparisons.flatMap((one) => [{ [attribute]: one }, { [attribute]: { not: one } }]),
	);
}

test('the policy compiles with every use of built-in attributes in sets', async (t) => {
	const conditions = builtInConditions();
	t.true(conditions.length > 1000);
	const condition_sets = chunked(conditions, 100).map((allOf, index) => userSet(`set-${index}`, { allOf }));
	const { diagnostics, policy } = compilePolicy({ condition_sets, set_rules: [], resources: [], roles: [] });
	t.deepEqual(diagnostics, []);
	await t.notThrowsAsync(buildWasm({ opa, files: [...(await readPolicyLibrary()), ...(policy ?? [])] }));
});

function chunked<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
	const starts = items.flatMap((_, index) => (index % size === 0 ? [index] : []));
	return starts.map((start) => items.slice(start, start + size));
}

test('a policy that does not compile is rejected with the message from opa', async (t) => {
	const text = 'package regolith.user_sets.a\n\nholds if contains([], "a")\n';
	const files = [...(await readPolicyLibrary()), { path: 'regolith/user_sets/a/holds.rego', text }];
	const failure = await t.throwsAsync(buildWasm({ opa, files }), { instanceOf: OpaFailure });
	t.regex(failure?.message ?? '', /1 error occurred: .*a.holds\.rego:3: rego_type_error/);
	t.regex(failure?.stderr ?? '', /have: \(array/);
});

test('reads the version of opa', async (t) => {
	t.regex(await opaVersion(opa), /^1\.\d+\.\d+/);
});

test('the version is cached until the program changes', async (t) => {
	const folder = temporaryFolder();
	t.teardown(() => removeFolder(folder));
	const [path, next] = [join(folder, 'opa'), join(folder, 'next')];
	const put = async (says: string) => {
		await writeFile(next, `#!/bin/sh\necho run >> '${folder}/runs'\n${says}\n`, { mode: 0o755 });
		await rename(next, path);
	};
	const runs = async () => (await readFile(join(folder, 'runs'), 'utf8')).split('\n').length - 1;
	const version = rememberedVersion(path);
	await put('exit 1');
	await t.throwsAsync(version(), { instanceOf: OpaFailure });
	await put('echo "Version: 1.30.0"');
	t.deepEqual([await version(), await version(), await runs()], ['1.30.0', '1.30.0', 2]);
	await put('echo "Version: 1.31.0"');
	t.deepEqual([await version(), await runs()], ['1.31.0', 3]);
});

const broken = {
	'Rego that does not parse': { path: 'a.rego', text: 'package a\n\nx if {\n' },
	'Rego that is not strict': { path: 'a.rego', text: 'package a\n\nimport data.b\n\nx := 1\n' },
	'Rego that is not formatted': { path: 'a.rego', text: 'package a\nx   := 1\n' },
};

for (const [name, file] of Object.entries(broken)) {
	test(`${name} is rejected with the message from opa`, async (t) => {
		const failure = await t.throwsAsync(checkRego({ opa, files: [file] }), { instanceOf: OpaFailure });
		t.regex(`${failure?.message}${failure?.stderr}`, /a\.rego|unexpected diff|exit code/);
		t.true((failure?.exitCode ?? 0) > 0);
	});
}

test('opaVersion rejects with OpaFailure if opa is missing', async (t) => {
	const failure = await t.throwsAsync(opaVersion('/nowhere/opa'), { instanceOf: OpaFailure });
	t.is(failure?.exitCode, null);
});

test('a file outside its folder is not written', async (t) => {
	const file = { path: '../../a.rego', text: 'package a\n' };
	await t.throwsAsync(checkRego({ opa, files: [file] }), { instanceOf: RangeError, message: /`\.\.\/\.\.\/a\.rego`/ });
});
