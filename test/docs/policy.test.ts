import { execFile } from 'node:child_process';
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { readPolicyLibrary } from '../../compiler/opa/build.js';
import { writeBelow } from '../../src/command/policy/policy-folder.js';
import { opaPath } from '../support/opa.js';
import { root } from '../support/root.js';
import { type Stack, startStack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/**
 * Tests `docs/policy/policy.md` and its example. The example contains the printed output, and the commands work as
 * described.
 */

const page = readFileSync(join(root, 'docs/policy/policy.md'), 'utf8');
const example = join(root, 'docs/policy/example');

let stack: Stack;

test.before('start', async () => {
	stack = await startStack();
	const document = readFileSync(join(example, 'environment.json'), 'utf8');
	const path = '/v2/projects/default/envs/dev/import';
	const { status, body } = await stack.environment.send('POST', path, JSON.parse(document));
	if (status !== 200) throw new Error(`the example cannot be imported: ${JSON.stringify(body)}`);
});

test.after.always('stop', () => stack.stop());

/** Runs a script from the page as a reader would, in a separate folder. Returns its output. */
async function run(folder: string, script: string): Promise<string> {
	const programs = join(folder, '.programs');
	mkdirSync(programs, { recursive: true });
	if (!existsSync(join(folder, 'dist'))) symlinkSync(join(root, 'dist'), join(folder, 'dist'));
	const shims = { node: `exec '${process.execPath}' "$@"`, opa: `exec '${opaPath}' "$@"` };
	for (const [name, line] of Object.entries(shims)) {
		writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`);
		chmodSync(join(programs, name), 0o755);
	}
	const { url } = stack.api.listening;
	const env = {
		PATH: `${programs}:${process.env['PATH']}`,
		HOME: folder,
		PERMIT_API_KEY: stack.keys.environment,
		PDP_CONTROL_PLANE: url,
	};
	const words = ['-ec', script.replaceAll('http://localhost:8000', url)];
	const { stdout } = await promisify(execFile)('sh', words, { cwd: folder, env });
	return stdout;
}

/** Returns the contents of every file below a folder, keyed by path. */
function filesIn(folder: string): Map<string, string> {
	const paths = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
	const files = paths.filter((path) => /\.(rego|json)$/.test(path)).sort();
	return new Map(files.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

test.serial('the example matches the output of `regolith policy`; `UPDATE=1` rewrites it', async (t) => {
	const folder = temporary(t);
	await run(folder, 'PDP_API_KEY=$PERMIT_API_KEY node dist/program/main.js policy dev --facts --out fresh');
	const fresh = filesIn(join(folder, 'fresh'));
	for (const { path, text } of await readPolicyLibrary()) {
		t.is(fresh.get(path), text);
		fresh.delete(path);
	}
	const kept = join(example, 'regolith');
	if (process.env['UPDATE'] === '1') {
		rmSync(kept, { recursive: true, force: true });
		writeBelow(
			example,
			[...fresh].map(([path, text]) => ({ path, text })),
		);
	}
	t.true(fresh.size > 12);
	t.deepEqual(new Map([...filesIn(example)].filter(([path]) => path !== 'environment.json')), fresh);
});

interface Block {
	readonly language: string;
	readonly text: string;
	/** Line that introduces the block. */
	readonly before: string;
}

const blocks: readonly Block[] = [...page.matchAll(/(?<=^([^\n]*)\n\n)```(\w+)\n(.*?)^```$/gms)].map(
	([, before = '', language = '', text = '']) => ({ language, text, before }),
);

test('the Rego on the page is in the example', (t) => {
	const rego = [...filesIn(join(example, 'regolith')).values()].join('\n');
	const quoted = blocks.filter(({ language, before }) => language === 'rego' && !before.startsWith('Save'));
	t.true(quoted.length >= 5);
	for (const { text } of quoted) t.true(rego.includes(text), text);
});

test.serial('the commands on the page print the output on the page', async (t) => {
	const folder = temporary(t);
	let printed = '';
	let compared = 0;
	for (const { language, text, before } of blocks) {
		const [, saved] = /^Save .*`([^`]+)`/.exec(before) ?? [];
		if (saved !== undefined) {
			writeFileSync(join(folder, saved), text);
		} else if (language === 'sh') {
			printed = await run(folder, text);
		} else if (language === 'text') {
			t.regex(printed, asPattern(text), `expected, from the page:\n${text}\nprinted:\n${printed}`);
			compared += 1;
		}
	}
	t.is(compared, 6);
});

/**
 * Matches the output printed on a page. `…` matches any text within its line. A line that contains only `…` matches any
 * number of lines.
 */
function asPattern(text: string): RegExp {
	const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
	return new RegExp(`^${escaped.replaceAll(/^…$\n/gm, '(?:.*\\n)*').replaceAll('…', '.*')}$`);
}
