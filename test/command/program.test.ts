import { execFile } from 'node:child_process';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { z } from 'zod';
import { bashCompletion } from '../../src/command/completion/bash.js';
import { commandTree } from '../../src/command/completion/command-tree.js';
import { fishCompletion } from '../../src/command/completion/fish.js';
import { zshCompletion } from '../../src/command/completion/zsh.js';
import { createProgram } from '../../src/command/program.js';
import { parseResource } from '../../src/command/resource-word.js';
import { askFor, type Server } from '../../src/command/server.js';
import { Session, type SharedOptions, type Variables } from '../../src/command/session.js';
import { ConfigError } from '../../src/config.js';
import { leafCommands } from '../support/command-page.js';
import { temporary } from '../support/temporary.js';

/** Command declarations: shared options, shell completion, environment variables, servers. */

const program = createProgram({});
const tree = commandTree(program);

test('an option has the same meaning in every command', (t) => {
	// `migrate check --pdp` takes several decision points, each with its environment. `keys create` and `console` use no
	// API key.
	const keyless = ['keys create', 'console'].flatMap((words) => [`${words} --project`, `${words} --environment`]);
	const others = ['migrate check --pdp', ...keyless];
	const meanings = new Map<string, string>();
	for (const [words, command] of leafCommands(program)) {
		for (const { long, flags, description } of command.options) {
			if (!/^--(project|environment|tenant|api|pdp|json)$/.test(long ?? '')) continue;
			if (others.includes(`${words} ${long}`)) continue;
			const meaning = `${flags}: ${description}`;
			t.is(meaning, meanings.get(long ?? '') ?? meaning, words);
			meanings.set(long ?? '', meaning);
		}
	}
	t.is(meanings.size, 6);
});

test('a short option has the same meaning in every command', (t) => {
	const meanings = new Map<string, string>();
	for (const [words, command] of leafCommands(program)) {
		for (const { short, long } of command.options) {
			if (!short) continue;
			t.is(long, meanings.get(short) ?? long, `${words} ${short}`);
			meanings.set(short, long ?? '');
		}
	}
	t.true(meanings.size > 5);
});

test('every command documents its exit codes, and all but servers and `completion` have `--json`', (t) => {
	const without = ['start', 'serve', 'pdp', 'completion'];
	for (const [words, command] of leafCommands(program)) {
		t.is(
			command.options.some(({ long }) => long === '--json'),
			!without.includes(words),
			words,
		);
		t.true(command.exitCodes.has(0) && command.exitCodes.has(2), words);
	}
});

test('no command has an option for a secret', (t) => {
	for (const [words, command] of leafCommands(program)) {
		for (const { long } of command.options) t.notRegex(long ?? '', /secret|token|api-key/, words);
	}
});

const completed: readonly (readonly [line: readonly string[], offered: string])[] = [
	[['k'], 'keys'],
	[['keys', ''], 'list create rotate revoke'],
	[['keys', 'create', '-a', ''], 'admin write read'],
	[['keys', 'create', '--access', 'w'], 'write'],
	[['check', '--ex'], '--explain'],
	[['check', 'ann', 'read', 'report', '--te'], '--tenant'],
	[['check', '-t', ''], ''],
	[['check', '-t', 'keys', '--p'], '--pdp'],
	[['completion', ''], 'bash zsh fish'],
	[['import', '--conflict-strategy', 'o'], 'overwrite'],
	[['import', '--conflict-strategy', '=', 'o'], 'overwrite'],
	[['import', '--conflict-strategy', '='], 'fail overwrite replace'],
	[['check', '--tenant', '=', 'a'], ''],
	[['keys', 'create', '--access', '=', 'read', '--na'], '--name'],
	[['migrate', 'check', '--co'], '--code'],
	[['nonsense', ''], tree[0]?.commands.map(({ word }) => word).join(' ') ?? ''],
];

test('bash completes commands, options and their values', async (t) => {
	const folder = temporary(t);
	writeFileSync(join(folder, 'completion.bash'), bashCompletion(tree, 'regolith'));
	const lines = completed.map(([words]) => `try ${['regolith', ...words].map((word) => `'${word}'`).join(' ')}`);
	const script = `. ./completion.bash
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _regolith; echo "\${COMPREPLY[*]}"; }
${lines.join('\n')}`;
	const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-uc', script], { cwd: folder });
	t.is(stderr, '');
	const offered = stdout.split('\n');
	for (const [index, [words, expected]] of completed.entries()) t.is(offered[index], expected, words.join(' '));
});

const others = [
	['zsh', zshCompletion(tree, 'regolith')],
	['fish', fishCompletion(tree, 'regolith')],
] as const;

for (const [shell, script] of others) {
	test(`the script for ${shell} contains every command and every option`, async (t) => {
		for (const { path, commands, options } of tree) {
			t.true(script.includes(path));
			for (const { word } of commands) t.true(script.includes(`'${word}`), word);
			const flags = options.flatMap((option) => option.flags).filter((flag) => flag.startsWith('--'));
			for (const flag of flags) t.true(script.includes(shell === 'zsh' ? flag : ` -l ${flag.slice(2)}`), flag);
		}
		if (!isInstalled(shell)) return t.log(`${shell} is not installed: its syntax is not checked`);
		const file = join(temporary(t), `completion.${shell}`);
		writeFileSync(file, script);
		await t.notThrowsAsync(promisify(execFile)(shell, ['-n', file]));
	});
}

function isInstalled(name: string): boolean {
	return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
		try {
			accessSync(join(folder, name), constants.X_OK);
			return true;
		} catch {
			return false;
		}
	});
}

const keys = { PERMIT_API_KEY: 'permit_key_a', PDP_API_KEY: 'permit_key_b' };

interface Choice {
	readonly variables: Variables;
	readonly options?: SharedOptions;
	readonly api: string;
	readonly pdp: string;
	/** Settings that provide the URLs. */
	readonly sources?: readonly [api: string, pdp: string];
	/** Environment variables that provide the keys. */
	readonly keys: readonly [api: string, pdp: string];
}

const usual = { api: 'http://127.0.0.1:8000', pdp: 'http://127.0.0.1:7766' };
const [permit, pdp] = ['PERMIT_API_KEY', 'PDP_API_KEY'] as const;
const choices: readonly Choice[] = [
	{ variables: keys, ...usual, keys: [permit, pdp] },
	{ variables: { PERMIT_API_KEY: 'a', PDP_API_KEY: '' }, ...usual, keys: [permit, permit] },
	{ variables: { PDP_API_KEY: 'b', PERMIT_API_URL: '' }, ...usual, keys: [pdp, pdp] },
	{
		variables: { ...keys, API_PORT: '9000', PDP_PORT: '0' },
		api: 'http://127.0.0.1:9000',
		pdp: usual.pdp,
		sources: ['API_PORT', 'PERMIT_PDP_URL'],
		keys: [permit, pdp],
	},
	{
		variables: { ...keys, PDP_CONTROL_PLANE: 'http://c', PERMIT_PDP_URL: 'https://p:1/x/' },
		api: 'http://c',
		pdp: 'https://p:1/x',
		sources: ['PDP_CONTROL_PLANE', 'PERMIT_PDP_URL'],
		keys: [permit, pdp],
	},
	{
		variables: { ...keys, PDP_CONTROL_PLANE: 'http://c', PERMIT_API_URL: 'http://a//' },
		options: { pdp: 'http://o' },
		api: 'http://a',
		pdp: 'http://o',
		sources: ['PERMIT_API_URL', '--pdp'],
		keys: [permit, pdp],
	},
	{
		variables: { ...keys, PERMIT_API_URL: 'no', API_PORT: 'x' },
		options: { api: 'http://o/' },
		...usual,
		api: 'http://o',
		sources: ['--api', 'PERMIT_PDP_URL'],
		keys: [permit, pdp],
	},
];

for (const {
	variables,
	options = {},
	api,
	pdp,
	sources: [apiSource, pdpSource] = ['PERMIT_API_URL', 'PERMIT_PDP_URL'],
	keys: [apiKey, pdpKey],
} of choices) {
	test(`finds the servers and keys for ${JSON.stringify({ ...variables, ...options })}`, (t) => {
		const session = new Session(variables, options);
		t.like(session.api, { url: api, source: apiSource, key: { variable: apiKey, secret: variables[apiKey] ?? '' } });
		t.like(session.decisionPoint, {
			url: pdp,
			source: pdpSource,
			key: { variable: pdpKey, secret: variables[pdpKey] ?? '' },
		});
	});
}

const wrong: readonly (readonly [variables: Variables, says: RegExp])[] = [
	[{}, /^PERMIT_API_KEY is not set/],
	[{ PERMIT_API_KEY: 'with blank' }, /^PERMIT_API_KEY: not a valid API key/],
	[{ ...keys, PERMIT_API_URL: 'localhost:8000' }, /^PERMIT_API_URL: must be/],
	[{ ...keys, PERMIT_API_URL: 'http://u:p@h' }, /^PERMIT_API_URL: must be/],
	[{ ...keys, PDP_CONTROL_PLANE: 'http://h?x' }, /^PDP_CONTROL_PLANE: must be/],
	[{ ...keys, API_PORT: 'x' }, /^API_PORT: must be a port number$/],
	[{ ...keys, API_PORT: '65536' }, /^API_PORT: must be a port number$/],
	[{ ...keys, API_PORT: '8000/x' }, /^API_PORT: must be a port number$/],
];

for (const [variables, says] of wrong) {
	test(`rejects the settings ${JSON.stringify(variables)}`, (t) => {
		const error = t.throws(() => new Session(variables, {}).api, { instanceOf: ConfigError, message: says });
		for (const value of ['with blank', 'u:p']) t.false(error.message.includes(value));
	});
}

test('a resource is a type, or a type with a key', (t) => {
	t.deepEqual(parseResource('report'), { type: 'report' });
	t.deepEqual(parseResource('report:q3'), { type: 'report', key: 'q3' });
	t.deepEqual(parseResource('report:a:b'), { type: 'report', key: 'a:b' });
	for (const word of ['', ':', 'report:', ':q3']) t.throws(() => parseResource(word), { instanceOf: ConfigError });
});

/** Server responses, each with the beginning of the resulting error. `{url}` is the server's URL. */
const answers: readonly (readonly [title: string, answer: (response: ServerResponse) => void, says: string])[] = [
	[
		'closes the connection in a body of known length',
		(response) => {
			response.writeHead(200, { 'content-length': 100 });
			response.write('{"a"', () => response.destroy());
		},
		'The connection was closed before the response was complete: GET {url}/x (',
	],
	[
		'closes the connection in a chunked body',
		(response) => response.write('{"a"', () => response.destroy()),
		'The connection was closed before the response was complete: GET {url}/x (',
	],
	['closes the connection before it responds', (response) => response.destroy(), 'Cannot connect to {url} ('],
	['is too slow', () => {}, '{url} did not respond in time'],
	['is too slow in the body', (response) => response.write('{"a"'), '{url} did not respond in time'],
	[
		'redirects',
		(response) => response.writeHead(302, { location: '/y' }).end(),
		'The server returned status 302.\n(302 from GET {url}/x, with the key in PERMIT_API_KEY)',
	],
	[
		'sends an unexpected body',
		(response) => response.end('<html>'),
		'{url} sent an unexpected response for /x. Check PERMIT_API_URL.',
	],
];

for (const [title, answer, says] of answers) {
	test(`reports a server that ${title}`, async (t) => {
		const listener = createServer((_, response) => answer(response));
		await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
		t.teardown(() => {
			listener.closeAllConnections();
			listener.close();
		});
		const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
		const server: Server = { url, source: 'PERMIT_API_URL', key: { secret: 'a', variable: 'PERMIT_API_KEY' } };
		// Long enough for a response to arrive, but short if no complete response is expected.
		const timeout = title.includes('slow') ? 300 : 10_000;
		const asked = askFor(server, '/x', z.object({ a: z.int() }), { timeout });
		const error = await t.throwsAsync(asked, { instanceOf: ConfigError });
		const expected = says.replaceAll('{url}', url);
		t.is(error.message.slice(0, expected.length), expected);
	});
}
