// @rest

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { checkMigration, type MigrateOptions } from '../../src/command/migrate/migrate-check.js';
import { findLeftovers } from '../../src/command/migrate/v1-leftovers.js';
import { freePort } from '../support/ports.js';
import { launch } from '../support/processes.js';
import { type Stack, startStack } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** `regolith migrate check` reports whether a migration from version 1 is complete. */

let stack: Stack;

test.before('start', async () => {
	stack = await startStack();
	await stack.organization.post('/v2/projects', { key: 'foreign', name: 'Somebody’s' });
	await stack.environment.post('/v2/schema/default/dev/resources', { key: 'document', name: 'D', actions: {} });
});

test.after.always('stop', () => stack.stop());

/** Creates a folder that contains these files. */
function codeWith(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
	const folder = temporary(t);
	for (const [path, text] of Object.entries(files)) {
		mkdirSync(join(folder, path, '..'), { recursive: true });
		writeFileSync(join(folder, path), text);
	}
	return folder;
}

/** Returns the API settings with a key. */
function asked(secret: string): MigrateOptions['api'] {
	return { url: stack.api.listening.url, source: 'PERMIT_API_URL', key: { secret, variable: 'PERMIT_API_KEY' } };
}

function options(t: ExecutionContext, more: Partial<MigrateOptions> = {}): MigrateOptions {
	return {
		api: asked(stack.keys.organization),
		mine: ['default', 'foreign'],
		code: [codeWith(t, { 'app.ts': "await fetch('/v2/facts/default/dev/users');" })],
		pdp: [`default/dev=${stack.decisionPoint.listening.url}`],
		...more,
	};
}

test('the check passes if the team owns all objects, decision points respond, and the code calls version 2', async (t) => {
	const { report, left } = await checkMigration(options(t));
	t.deepEqual(left, []);
	t.regex(report, /default \(Default Project\)\n {4}dev: 1 resources, 0 roles, 0 users, 1 tenants\n {4}production: 0 /);
	t.regex(report, /: ok, version 2\n/);
	t.regex(report, /No migration tasks left/);
	t.false(report.includes('FOREIGN'));
	t.false(report.includes('permit_key_'), 'the report contains no secrets');
});

/** Options that reveal remaining work, each with the expected report. */
const unfinished: readonly (readonly [
	title: string,
	more: (t: ExecutionContext) => Partial<MigrateOptions>,
	left: readonly RegExp[],
])[] = [
	[
		'a project outside `--mine`',
		() => ({ mine: ['default'] }),
		[/^foreign was/, /^foreign\/dev was/, /^foreign\/production was/],
	],
	[
		'an environment outside `--mine`',
		() => ({ mine: ['default/dev', 'foreign'] }),
		[/^default\/production was not created/],
	],
	['`--mine` is missing', () => ({ mine: [] }), [/--mine/]],
	[
		'`--mine` names a missing environment',
		() => ({ mine: ['default', 'foreign', 'shop/dev'] }),
		[/^shop\/dev, from --mine/],
	],
	['a project key', () => ({ api: asked(stack.keys.project), mine: ['default'] }), [/no access to the whole/]],
	['an environment key', () => ({ api: asked(stack.keys.environment), mine: ['default'] }), [/no access to the whole/]],
	['`--pdp` is missing', () => ({ pdp: [] }), [/--pdp/]],
	['`--pdp` names no environment', () => ({ pdp: [stack.decisionPoint.listening.url] }), [/specify its environment/]],
	['`--pdp` names a missing environment', () => ({ pdp: ['a/b=http://localhost:1'] }), [/a\/b does not exist/]],
	[
		'the decision point serves a different environment',
		() => ({ pdp: [`foreign/dev=${stack.decisionPoint.listening.url}`] }),
		[/serves a different/],
	],
	[
		'the URL does not belong to a decision point',
		() => ({ pdp: [`default/dev=${stack.api.listening.url}`] }),
		[/is not from a version 2/],
	],
	['`--code` is missing', () => ({ code: [] }), [/--code/]],
	[
		'the code calls version 1',
		(t) => ({ code: [codeWith(t, { 'a.py': 'x\nget("/v1/tenants")' })] }),
		[/^a\.py:2: .*facts.*tenants$/],
	],
];

for (const [title, more, expected] of unfinished) {
	test(`the check fails: ${title}`, async (t) => {
		const { report, left } = await checkMigration(options(t, more(t)));
		t.is(left.length, expected.length, left.join('\n'));
		for (const [index, pattern] of expected.entries()) t.regex(left[index] ?? '', pattern);
		t.regex(report, /Migration is not complete/);
		for (const line of left) t.true(report.includes(line));
	});
}

test('an unreachable decision point is reported as a remaining task', async (t) => {
	const { left } = await checkMigration(options(t, { pdp: [`default/dev=http://127.0.0.1:${await freePort()}`] }));
	t.regex(left.join('\n'), /cannot connect/);
});

const files = {
	'src/users.js':
		"get('/v1/users/' + id); get(f`/v1/projects/{p}/environments/{e}/roles`)\nget('https://api.other.com/v1/charges')",
	'src/sync.py':
		'permit.write(permit.api.sync_user(user))\nfile.write(text)\ncustom_id = 5\nslug = "post"\ntenantSlug = "acme"',
	'compose.yaml': 'image: permitio/pdp:latest\nimage: permitio/pdp-v2:latest',
	'node_modules/x/index.js': "get('/v1/users')",
	'.git/x': "get('/v1/users')",
	'data.bin': "\0get('/v1/users')",
};

test('version 1 leftovers in hand-written code are found with their kind and location', (t) => {
	const folder = codeWith(t, files);
	symlinkSync(folder, join(folder, 'again'));
	t.deepEqual(
		findLeftovers(folder).map(({ file, line, problem }) => [file, line, problem.slice(0, 30)]),
		[
			['compose.yaml', 1, 'this is the image of the versi'],
			['src/sync.py', 1, 'a separate write step belongs '],
			['src/sync.py', 3, '`custom_id` belongs to version'],
			['src/sync.py', 5, 'slugs belong to version 1: use'],
			['src/users.js', 1, 'the path /v1/users belongs to '],
			['src/users.js', 1, 'the path /v1/projects/{p}/envi'],
		],
	);
});

test('the command prints its findings and exits with 0, 1 or 2', async (t) => {
	const { code, pdp, api } = options(t);
	const words = (...more: readonly string[]) => [
		'migrate',
		'check',
		'--api',
		api.url,
		'--code',
		code[0] ?? '',
		'--pdp',
		pdp[0] ?? '',
		...more,
	];
	const run = async (command: readonly string[], key = stack.keys.organization) => {
		const running = launch({ command, env: { PDP_API_KEY: key } });
		return { ...(await running.exited), said: running.stdout(), wrong: running.stderr() };
	};
	const complete = await run(words('--mine', 'default,foreign'));
	t.is(complete.code, 0, complete.said + complete.wrong);
	t.regex(complete.said, /No migration tasks left/);
	const left = await run(words('--mine', 'default/dev', '--mine', 'foreign'));
	t.is(left.code, 1);
	t.regex(left.said, /production: .*FOREIGN[\s\S]*Tasks left: 1\n {2}- default\/production/);
	const refused = await run(words('--mine', 'default'), `${stack.keys.organization}0`);
	t.is(refused.code, 2);
	t.regex(refused.wrong, /401 from GET/);
	t.is((await run(['migrate', 'check', '--api', api.url, '--pdp', 'x'])).code, 2);
});
