import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compilePolicy, type RegoFile } from '../../compiler/index.js';
import { OpaFailure, readPolicyLibrary } from '../../compiler/opa/build.js';
import { createWasmCompiler } from '../../src/publish/wasm-compiler.js';
import { opaPath } from '../support/opa.js';
import { temporary } from '../support/temporary.js';

/** A compiled module does not depend on earlier compilations, and every valid policy is compiled. */

const nothing = '/no/opa';

/**
 * Creates a compiler, and stops it after the test. It uses the persistent program if `program` is the program from
 * setup (`own`), and the command otherwise.
 */
function createCompiler(t: ExecutionContext, program: string, own = program) {
	const compiler = createWasmCompiler(program, dirname(own));
	t.teardown(() => compiler.stop());
	return compiler;
}

/** Returns a policy for a type with this action. */
async function policyWith(action: string): Promise<readonly RegoFile[]> {
	const named = (key: string) => ({ key, name: key, description: 'Said in METADATA.' });
	const { policy } = compilePolicy({
		condition_sets: [],
		set_rules: [],
		resources: [{ ...named('document'), actions: [named(action)], roles: [], relations: [] }],
		roles: [],
	});
	return [...(await readPolicyLibrary()), ...(policy ?? [])];
}

/** Writes a program that logs its commands to a file, and then runs `before` and the real program. Returns its path. */
function wrapper(t: ExecutionContext, before = '') {
	const folder = temporary(t);
	const [path, notes] = [join(folder, 'opa'), join(folder, 'notes')];
	writeFileSync(notes, '');
	const note = `echo "$1" >> ${JSON.stringify(notes)}`;
	writeFileSync(path, `#!/bin/sh\n${note}\n${before}\nexec ${JSON.stringify(opaPath)} "$@"\n`);
	chmodSync(path, 0o755);
	return {
		path,
		commands: () =>
			readFileSync(notes, 'utf8')
				.split('\n')
				.filter((line) => line !== ''),
	};
}

test('equal files give equal modules, after any other compilations and in any order', async (t) => {
	const resident = createCompiler(t, opaPath);
	for (const action of ['read', 'write', 'read']) {
		const files = [...(await policyWith(action)), said(action)];
		const expected = Buffer.from(await createCompiler(t, opaPath).compile(files));
		t.true(expected.equals(await resident.compile(files)), action);
		t.true(expected.equals(await resident.compile([...files].reverse())), `${action}, in another order`);
	}
});

/** Returns a Rego file with this word. */
const said = (word: string) => inPackage('said', `holds if input.action == "${word}"`);

test('an unchanged file is rejected if a function that it calls now takes more arguments', async (t) => {
	const callee = (parameters: string) => inPackage('callee', `chosen(${parameters}) := first`);
	const asking = inPackage('asking', 'holds if {\n\tdata.regolith.user_sets.callee.chosen(1, found)\n\tfound == 1\n}');
	const policy = [...(await policyWith('read')), asking];
	const resident = createCompiler(t, opaPath);
	await t.notThrowsAsync(resident.compile([...policy, callee('first')]));
	await t.throwsAsync(resident.compile([...policy, callee('first, _')]), { message: /rego_unsafe_var/ });
	await t.notThrowsAsync(resident.compile([...policy, callee('first')]));
});

test('the program is started once', async (t) => {
	const { path, commands } = wrapper(t);
	const compiler = createCompiler(t, path);
	await Promise.all(['read', 'write'].map(async (action) => compiler.compile(await policyWith(action))));
	t.deepEqual(commands(), ['resident']);
});

test('a program that setup did not build is run as a command', async (t) => {
	const { path, commands } = wrapper(t);
	await createCompiler(t, path, nothing).compile(await policyWith('read'));
	t.deepEqual(commands(), ['build']);
});

/** Returns a Rego file with its own package. */
const inPackage = (name: string, rules: string): RegoFile => ({
	path: `regolith/user_sets/${name}.rego`,
	text: `package regolith.user_sets.${name}\n\n${rules}\n`,
});

const caller = inPackage('caller', 'holds if data.regolith.user_sets.callee.chosen(1)');
const brokenFiles: readonly (readonly [string, RegoFile, RegExp])[] = [
	['of another type', inPackage('callee', 'chosen(_) if contains([], "a")'), /callee\.rego:3: rego_type_error/],
	['recursive', inPackage('callee', 'chosen(_) if data.regolith.user_sets.caller.holds'), /rego_recursion_error/],
	['missing', inPackage('callee', 'another(_) := 1'), /caller\.rego:3: rego_type_error: undefined function/],
	[
		'in conflict with a rule',
		inPackage('callee', 'chosen(_) := 1\n\nchosen := 2'),
		/rego_type_error: conflicting rules/,
	],
	['unsafe', inPackage('callee', 'chosen(_) := found'), /rego_unsafe_var_error/],
];

test('a failed compilation always has the same message, and the next policy compiles', async (t) => {
	const policy = [...(await policyWith('read')), caller];
	const [resident, command] = [createCompiler(t, opaPath), createCompiler(t, opaPath, nothing)];
	for (const [title, broken, words] of brokenFiles) {
		await t.notThrowsAsync(resident.compile([...policy, inPackage('callee', 'chosen(_) := 1')]));
		const failure = await t.throwsAsync(resident.compile([...policy, broken]), { instanceOf: OpaFailure }, title);
		const expected = await t.throwsAsync(command.compile([...policy, broken]), { instanceOf: OpaFailure }, title);
		t.regex(failure?.stderr ?? '', words, title);
		t.deepEqual([failure?.message, failure?.stderr.trim()], [expected?.message, expected?.stderr.trim()], title);
	}
});

test('invalid Rego is rejected, and compiles once it is fixed', async (t) => {
	const compiler = createCompiler(t, opaPath);
	const [first, ...others] = await policyWith('read');
	const files = (text: string) => [...others, { path: first?.path ?? '', text }];
	await t.throwsAsync(compiler.compile(files('package a\n\nb if {\n')), { message: /rego_parse_error/ });
	await t.notThrowsAsync(compiler.compile(files(first?.text ?? '')));
});

for (const [title, before] of [
	['lacks the command resident', '[ "$1" = resident ] && exit 1'],
	['ends during the first request', '[ "$1" = resident ] && head -c 100 > /dev/null && exit 0'],
] as const) {
	test(`a program that ${title} is run as a command`, async (t) => {
		const { path, commands } = wrapper(t, before);
		await createCompiler(t, path).compile(await policyWith('read'));
		t.deepEqual(commands(), ['resident', 'build']);
	});
}

test('the partial opa built by setup is restarted when it ends, and is not run as a command', async (t) => {
	const folder = temporary(t);
	const [path, notes] = [join(folder, 'regolith-opa'), join(folder, 'notes')];
	const once = `[ -e ${JSON.stringify(notes)} ] || { echo "$1" > ${JSON.stringify(notes)}; exit 1; }`;
	writeFileSync(path, `#!/bin/sh\n${once}\nexec ${JSON.stringify(opaPath)} "$@"\n`, { mode: 0o755 });
	await t.notThrowsAsync(createCompiler(t, path).compile(await policyWith('read')));
	t.is(readFileSync(notes, 'utf8'), 'resident\n');
});

test('a compiler rejects with OpaFailure if its program is missing', async (t) => {
	const failure = await t.throwsAsync(createCompiler(t, nothing).compile(await policyWith('read')), {
		instanceOf: OpaFailure,
	});
	t.regex(failure?.message ?? '', /ENOENT/);
});
