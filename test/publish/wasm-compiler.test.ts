import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { compilePolicy, type RegoFile } from '../../compiler/index.js';
import { OpaFailure, readPolicyLibrary } from '../../compiler/opa/build.js';
import { createWasmCompiler } from '../../src/publish/wasm-compiler.js';
import { opaPath } from '../support/opa.js';
import { temporary } from '../support/temporary.js';

/** Whoever compiles, the module is the same; and while a policy can be compiled at all, it is. */

const nothing = '/no/opa';

/** The compiler that stays up, or with another path for set-up's program the command; ended with the test. */
function createCompiler(t: ExecutionContext, program: string, own = program) {
	const compiler = createWasmCompiler(program, own);
	t.teardown(() => compiler.stop());
	return compiler;
}

/** A policy with one type that has this action. */
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

/** A program that notes its commands in a file, and does this before it becomes the real one. */
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

test('the compiler that stays up makes the module of the command, at first and when little is new', async (t) => {
	const [resident, command] = [createCompiler(t, opaPath), createCompiler(t, opaPath, nothing)];
	for (const action of ['read', 'write', 'read']) {
		const files = await policyWith(action);
		const expected = Buffer.from(await command.compile(files));
		t.true(expected.equals(await resident.compile(files)), action);
		t.true(expected.equals(await resident.compile([...files].reverse())), `${action}, in another order`);
	}
});

test('it is started once', async (t) => {
	const { path, commands } = wrapper(t);
	const compiler = createCompiler(t, path);
	await Promise.all(['read', 'write'].map(async (action) => compiler.compile(await policyWith(action))));
	t.deepEqual(commands(), ['resident']);
});

test('a program that set-up did not build is run as a command', async (t) => {
	const { path, commands } = wrapper(t);
	await createCompiler(t, path, nothing).compile(await policyWith('read'));
	t.deepEqual(commands(), ['build']);
});

test('what does not compile is refused in the same words, and the next policy compiles', async (t) => {
	const broken = { path: 'regolith/a/b.rego', text: 'package regolith.a\n\nb if contains([], "a")\n' };
	const files = [...(await policyWith('read')), broken];
	const [resident, command] = [createCompiler(t, opaPath), createCompiler(t, opaPath, nothing)];
	const failure = await t.throwsAsync(resident.compile(files), { instanceOf: OpaFailure });
	const expected = await t.throwsAsync(command.compile(files), { instanceOf: OpaFailure });
	t.regex(failure?.message ?? '', /1 error occurred: regolith\/a\/b\.rego:3: rego_type_error/);
	t.deepEqual([failure?.message, failure?.stderr.trim()], [expected?.message, expected?.stderr.trim()]);
	await t.notThrowsAsync(async () => resident.compile(await policyWith('write')));
});

test('what is no Rego is refused, and compiles once it is', async (t) => {
	const compiler = createCompiler(t, opaPath);
	const [first, ...others] = await policyWith('read');
	const files = (text: string) => [...others, { path: first?.path ?? '', text }];
	await t.throwsAsync(compiler.compile(files('package a\n\nb if {\n')), { message: /rego_parse_error/ });
	await t.notThrowsAsync(compiler.compile(files(first?.text ?? '')));
});

for (const [title, before] of [
	['does not know how to stay up', '[ "$1" = resident ] && exit 1'],
	['ends when it is asked', '[ "$1" = resident ] && head -c 100 > /dev/null && exit 0'],
] as const) {
	test(`a program that ${title} is run as a command`, async (t) => {
		const { path, commands } = wrapper(t, before);
		await createCompiler(t, path).compile(await policyWith('read'));
		t.deepEqual(commands(), ['resident', 'build']);
	});
}

test('a program that is not there is a failure', async (t) => {
	const failure = await t.throwsAsync(createCompiler(t, nothing).compile(await policyWith('read')), {
		instanceOf: OpaFailure,
	});
	t.regex(failure?.message ?? '', /ENOENT/);
});
