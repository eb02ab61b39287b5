// @alone @rest

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { documentedJson, hasShape } from '../support/command-page.js';
import { eventually } from '../support/eventually.js';
import { opaPath } from '../support/opa.js';
import { freePort } from '../support/ports.js';
import { launch } from '../support/processes.js';
import { facts, type Stack, schema, startStack } from '../support/stack.js';
import { removeFolder, temporary, temporaryFolder } from '../support/temporary.js';

/** The command line against a running stack: the real program, with a process per command (docs/operate/command-line.md). */

let stack: Stack;
let nowhere: string;
/** Revision after the `population` requests. */
let reached = 0;
/** Folder with a user's documents and tests. */
let folder: string;

/** Requests that fill the environment, in this order. The name of `loud` contains an escape sequence for red text. */
const population: readonly (readonly [path: string, body: object])[] = [
	[`${schema}/resources`, { key: 'report', name: 'Report', actions: { read: {}, write: {} } }],
	[
		`${schema}/resources`,
		{
			key: 'document',
			name: 'Document',
			actions: { read: {} },
			roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
		},
	],
	[`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['report:read'] }],
	[`${schema}/roles`, { key: 'loud', name: 'Loud \u001b[31m\n', permissions: [], extends: ['reader'] }],
	[`${facts}/tenants`, { key: 'acme', name: 'Acme' }],
	[`${facts}/users`, { key: 'ann', role_assignments: [{ role: 'reader', tenant: 'acme' }] }],
	[`${facts}/users`, { key: 'bob' }],
	[`${facts}/users`, { key: 'cat' }],
	[`${facts}/users`, { key: 'dan' }],
	[`${facts}/resource_instances`, { key: 'q3', resource: 'document', tenant: 'acme' }],
	[`${facts}/role_assignments`, { user: 'bob', role: 'viewer', resource_instance: 'document:q3', tenant: 'acme' }],
];

const document = {
	format: 'regolith-environment',
	version: 1,
	schema: { roles: { auditor: { name: 'Auditor' } } },
};

test.before('start', async () => {
	stack = await startStack();
	folder = temporaryFolder();
	nowhere = `http://127.0.0.1:${await freePort()}`;
	for (const [path, body] of population) {
		const { status, revision = 0, body: answer } = await stack.environment.post(path, body);
		if (status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
		reached = revision;
	}
	await stack.environment.post('/v1/decision_logs/ingress', loggedDecisions());
	await stack.reached(reached);
	mkdirSync(join(folder, 'tests'));
	writeFileSync(join(folder, 'document.json'), JSON.stringify(document));
	writeFileSync(join(folder, 'tests/own_test.rego'), 'package own_test\n\ntest_right if true\n\ntest_wrong if false\n');
});

test.after.always('stop', async () => {
	await stack.stop();
	removeFolder(folder);
});

function loggedDecisions() {
	return [
		{ user: 'ann', allow: true },
		{ user: 'bob', allow: false },
		{ user: 'eve\u001b[2J', allow: false },
	].map(({ user, allow }, index) => ({
		decision_id: `decision-${index}`,
		timestamp: new Date(Date.now() + (index - 10) * 60_000).toISOString(),
		path: 'regolith/check/code',
		input: { user: { key: user }, action: 'read', resource: { type: 'document', key: 'q3', tenant: 'acme' } },
		result: { allow, code: allow ? 'allow' : 'no_graph_roles' },
	}));
}

interface Ran {
	readonly code: number | null;
	readonly said: string;
	readonly wrong: string;
}

/** Runs a command with a client's environment variables: the key and the server URLs. */
async function regolith(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
	const running = launch({ command: words, env: { ...surroundings(), ...env } });
	const { code } = await running.exited;
	return { code, said: running.stdout(), wrong: running.stderr() };
}

function surroundings() {
	return {
		PERMIT_API_KEY: stack.keys.environment,
		PERMIT_API_URL: stack.api.listening.url,
		PERMIT_PDP_URL: stack.decisionPoint.listening.url,
		OPA_PATH: opaPath,
	};
}

/** Compares a command's `--json` output with its documentation. Returns the parsed output. */
function documented<T = Record<string, unknown>>(t: ExecutionContext, words: readonly string[], ran: Ran): T {
	const name = ['keys', 'migrate'].includes(words[0] ?? '') ? words.slice(0, 2).join(' ') : (words[0] ?? '');
	const printed = JSON.parse(ran.said);
	const shapes = documentedJson(name);
	t.true(
		shapes.some((shape) => hasShape(printed, shape)),
		`the page documents a different output for ${name}: ${ran.said}`,
	);
	return printed;
}

/** A read command with its exit code and its output, either as text or as a part of the `--json` output. */
type Reading = readonly [words: readonly string[], code: number, prints: RegExp | object];

const readings: readonly Reading[] = [
	[['check', 'ann', 'read', 'report', '-t', 'acme'], 0, /^allowed\n$/],
	[
		['check', 'ann', 'write', 'report', '-t', 'acme'],
		1,
		/^denied: no_permission\n {2}roles in the tenant: no role of /,
	],
	[['check', 'bob', 'read', 'document:q3', '-t', 'acme'], 0, /^allowed\n$/],
	[
		['check', 'cat', 'read', 'report', '-t', 'acme', '--explain'],
		1,
		/^denied: no_user_roles\n[\s\S]*\n {2}2\. add role reader for user cat in tenant acme\n {5}policy: regolith\//,
	],
	[
		['check', 'bob', 'read', 'document:q3', '-t', 'acme', '--explain'],
		0,
		/^allowed\n {2}roles on the resource: [\s\S]*\n {2}1\. role document:q3#viewer, assigned on document:q3\n/,
	],
	[['check', 'ann', 'read', 'report', '-t', 'acme', '--json'], 0, { allow: true, code: 'allow' }],
	[
		['check', 'cat', 'read', 'document:q3', '-t', 'acme', '--json', '--explain', '--context', '{"a":1}'],
		1,
		{ allow: false, code: 'no_graph_roles', truncated: false },
	],
	[['who', 'read', 'document:q3', '-t', 'acme'], 0, /^USER +ROLE +ON\nbob +document#viewer +document:q3\n$/],
	[['who', 'read', 'report', '-t', 'acme', '--json'], 0, { action: 'read', resource: 'report:*', tenant: 'acme' }],
	[['can', 'ann'], 0, /^TENANT +RESOURCE +ROLES +PERMISSIONS\nacme +- +reader +report:read\n$/],
	[['can', 'bob', '--resource', 'document:q3', '-t', 'acme', '--json'], 0, { user: 'bob' }],
	[['roles'], 0, /^loud +Loud \\u001b\[31m\\n +- +reader$/m],
	[['roles', '--json'], 0, {}],
	[['roles', 'bob'], 0, /^ROLE +TENANT +RESOURCE +EXPIRES\nviewer +acme +document:q3 +-\n$/],
	[['roles', 'ann', '-t', 'acme', '--json'], 0, { user: 'ann' }],
	[['envs', '--json', '-p', 'default'], 0, {}],
	[['keys', 'list', '-p', 'default', '-e', 'dev'], 0, /^ID +NAME [^\n]*\n.* default\/dev +admin /],
	[['keys', 'list'], 0, /^ID +NAME +SCOPE +ACCESS +LAST USED\n.* default\/dev +admin /],
	[['keys', 'list', '--json', '-e', 'dev'], 0, {}],
	[['export'], 0, /^\{[\s\S]*"regolith-environment"[\s\S]*"Loud \\u001b\[31m\\n"/],
	[['inspect', '--json'], 0, { environment: 'default/dev', failure: null }],
	[['diff', '1', '--json'], 1, { from: 1, changed: true }],
	[['status'], 0, /^API +http[\s\S]* {2}environment +default\/dev\n[\s\S]* {2}state +ok, ready\n/],
	[['status', '--json'], 0, { healthy: true, problems: [] }],
	[['logs', '--denied', '--since', '1h'], 0, /^\d{4}-.*bob read document:q3.*\n.*eve\\u001b\[2J.*\n$/],
	[['logs', '--code', 'allow', '--action', 'read'], 0, /^[^\n]* allowed +ann read document:q3[^\n]*\n$/],
	[['logs', '--json', '--user', 'ann', '-t', 'acme', '--limit', '1'], 0, {}],
	[['test', '--run', 'test_resource_types'], 0, /^\d+ of \d+ tests pass, schema revision \d+\n$/],
];

test('commands that read print their results', async (t) => {
	await runConcurrently(readings, async ([words, code, prints]) => {
		const ran = await regolith(words);
		const what = `${words.join(' ')}\n${ran.said}${ran.wrong}`;
		t.is(ran.code, code, what);
		t.is(ran.wrong, '', what);
		if (prints instanceof RegExp) t.regex(ran.said, prints, what);
		else t.like({ ...documented(t, words, ran), ran: true }, { ...prints, ran: true }, what);
		t.notRegex(ran.said.replaceAll(/[\n\t]/g, ''), /\p{Cc}/u, what);
		t.false(ran.said.includes('permit_key_'), what);
	});
});

/** Runs all items, a few at a time, because each item starts a process. */
async function runConcurrently<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
	const left = [...items];
	const worker = async () => {
		for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
	};
	await Promise.all([worker(), worker(), worker()]);
}

// Serial, because a decision point waits only a limited time for a revision, and twenty starting processes would slow
// it down.
test.serial('a role is assigned and removed, and a check waits for it', async (t) => {
	const words = ['dan', 'reader', '-t', 'acme'];
	const given = documented<{ revision: number }>(
		t,
		['assign'],
		await regolith(['assign', ...words, '--until', '2999-01-01T00:00:00Z', '--json']),
	);
	const check = (revision: number) =>
		regolith(['check', 'dan', 'read', 'report', '-t', 'acme', '--min-revision', String(revision)]);
	const allowed = await check(given.revision);
	t.is(allowed.code, 0, allowed.wrong);
	const again = await regolith(['assign', ...words, '--until', '2998-01-01T00:00:00Z']);
	t.is(again.code, 2);
	t.regex(again.wrong, /already exists/);
	const taken = await regolith(['unassign', ...words, '--json']);
	t.is((await check(documented<{ revision: number }>(t, ['unassign'], taken).revision)).code, 1);
	const [on, off] = [
		await regolith(['assign', 'dan', 'viewer', '--on', 'document:q3']),
		await regolith(['unassign', 'dan', 'viewer', '--on', 'document:q3']),
	];
	t.regex(on.said, /^Assigned role viewer to dan on document:q3 \(revision \d+\)\n$/);
	t.regex(off.said, /^Removed role viewer from dan on document:q3 \(revision \d+\)\n$/);
});

test('a document is imported as a dry run, imported, and exported from a second environment', async (t) => {
	const env = { PERMIT_API_KEY: stack.keys.project, PDP_API_KEY: stack.keys.environment };
	const place = ['--environment', 'production'];
	const file = join(folder, 'document.json');
	const words = ['import', file, ...place];
	const tried = await regolith([...words, '--dry-run', '--json'], env);
	t.is(tried.code, 1, tried.wrong);
	t.like(documented(t, ['import'], tried), { dry_run: true, total: 1, revision: null });
	const made = await regolith(words, env);
	t.is(made.code, 0, made.wrong);
	t.regex(made.said, /^KIND +CREATE +UPDATE +DELETE\n[\s\S]*\nImported 1 change \(revision \d+\)\n$/);
	const again = await regolith([...words, '--dry-run', '--conflict-strategy', 'overwrite'], env);
	t.is(again.code, 0, 'no change');
	t.regex(again.said, /Dry run: 0 changes\. Nothing was changed\.\n$/);
	const output = join(folder, 'exported.json');
	const exported = await regolith(['export', ...place, '--output', output, '--json'], env);
	t.deepEqual(Object.keys(JSON.parse(exported.said)), ['file', 'revision']);
	t.regex(readFileSync(output, 'utf8'), /"auditor"/);
	t.is(statSync(output).mode & 0o777, 0o600);
	// The decision point is called with its own key.
	t.is((await regolith(['check', 'ann', 'read', 'report', '-t', 'acme'], env)).code, 0);
});

test('a draft is previewed and applied, and a stale draft is rejected', async (t) => {
	const env = { PERMIT_API_KEY: stack.keys.project, PDP_API_KEY: stack.keys.environment };
	const { body } = await stack.project.get<{ revision: number }>('/v2/projects/default/production/policy');
	const file = join(folder, 'draft.json');
	const apply = (...options: string[]) => regolith(['apply', file, '-e', 'production', ...options], env);
	const actions = { read: {}, sign: {} };
	const changes = [
		{ kind: 'resource', operation: 'create', key: 'contract', value: { name: 'Contract', actions } },
		{ kind: 'role', operation: 'create', key: 'signer', value: { name: 'Signer', permissions: ['contract:sign'] } },
	];
	writeFileSync(file, JSON.stringify({ base_revision: body.revision, changes }));
	const tried = await apply('--dry-run', '--json');
	t.is(tried.code, 1, tried.wrong);
	t.like(documented(t, ['apply'], tried), { dry_run: true, total: 4, revision: null });
	t.regex(tried.said, /regolith\/resources\/contract\/permits\.rego/);
	const words = await apply('--dry-run');
	t.regex(words.said, /Dry run: 4 changes, \d+ Rego files? affected\. Nothing was changed\.\n$/);
	const made = await apply();
	t.is(made.code, 0, made.wrong);
	t.regex(
		made.said,
		/^OPERATION +KIND +KEY\ncreate +resource +contract\n[\s\S]*\nApplied 4 changes \(revision \d+\)\n$/,
	);
	const stale = await apply('--json');
	t.is(stale.code, 2);
	t.regex(stale.wrong, /changed since revision/);
	const gone = changes.map(({ kind, key }) => ({ kind, key, operation: 'delete' }));
	const base = String(/\d+(?=\)\n$)/.exec(made.said));
	const undo = (...options: string[]) => regolith(['undo', base, '-e', 'production', ...options], env);
	t.deepEqual(JSON.parse((await undo()).said), { base_revision: Number(base), changes: gone });
	const undone = documented<{ applied: { total: number } }>(t, ['undo'], await undo('--apply', '--json'));
	t.is(undone.applied.total, 4);
	t.regex((await undo('--apply')).wrong, /changed since revision/);
	t.is((await undo('--position', '9')).code, 2);
});

test('the impact of a draft shows who loses access, and makes a pipeline fail', async (t) => {
	// Uses a separate resource, because concurrent tests use the other resources.
	const actions = { read: {}, write: {} };
	await stack.environment.post(`${schema}/resources`, { key: 'cabinet', name: 'Cabinet', actions });
	await stack.environment.post(`${schema}/roles`, { key: 'filer', name: 'Filer', permissions: ['cabinet:read'] });
	await stack.environment.post(`${facts}/users`, { key: 'fay', role_assignments: [{ role: 'filer', tenant: 'acme' }] });
	const base_revision = (await stack.api.store.counters((await stackScope()).environment_id))?.revision ?? 0;
	const value = { name: 'Filer', permissions: ['cabinet:write'] };
	const file = join(folder, 'losing-draft.json');
	const write = (changes: readonly object[]) => writeFileSync(file, JSON.stringify({ base_revision, changes }));
	write([{ kind: 'role', operation: 'update', key: 'filer', value }]);
	const told = await regolith(['impact', file]);
	t.is(told.code, 0, told.wrong);
	t.regex(
		told.said,
		/^Lost access: role filer in the tenant\nUSER +ACTION +RESOURCE +TENANT\nfay +read +cabinet +acme\n\n/,
	);
	t.regex(told.said, /Gained access: [^\n]*\nUSER[^\n]*\nfay +write +cabinet +acme\n/);
	t.regex(
		told.said,
		/\nat revision \d+: 1 lost, 1 gained \(2 checks compared\)\nof \d+ logged decisions: 0 lost, 0 gained\n$/,
	);
	const failed = await regolith(['impact', file, '--fail-on-loss', '--json']);
	t.is(failed.code, 1, failed.wrong);
	t.like(documented(t, ['impact'], failed), { truncated: false, counts: { gained: 1, lost: 1 } });
	t.is((await regolith(['impact', file, '--fail-on-loss', '--checks', '0'])).code, 3);
	write([{ kind: 'role_assignment', operation: 'create', value: { user: 'fay', role: 'loud', tenant: 'default' } }]);
	const gained = await regolith(['impact', file, '--fail-on-loss']);
	t.is(gained.code, 0, gained.said + gained.wrong);
	t.regex(gained.said, /0 lost, 1 gained/);
	for (const [words, says] of [
		[['impact', file, '--rows', 'x'], /^--rows: must be a whole number/],
		[['impact', join(folder, 'nothing.json')], /nothing\.json: ENOENT/],
		[['impact', join(folder, 'tests/own_test.rego')], /own_test\.rego: [^\n]*JSON/],
		[['impact', file, '--rows', '5000'], /body\.limits\.rows: /],
		[['impact', join(folder, 'document.json')], /body\.draft\.base_revision: field required/],
	] as const) {
		const refused = await regolith(words);
		t.is(refused.code, 2, refused.said);
		t.regex(refused.wrong, says);
	}
});

async function stackScope() {
	return (await stack.environment.get<{ environment_id: string }>('/v2/api-key/scope')).body;
}

test('keys are rotated and revoked', async (t) => {
	const { body } = await stack.environment.post<{ id: string; secret: string }>('/v2/api-key', {
		project_id: 'default',
		environment_id: 'dev',
		access_level: 'read',
	});
	const rotated = await regolith(['keys', 'rotate', body.id, '--json']);
	const { secret } = documented<{ secret: string }>(t, ['keys', 'rotate'], rotated);
	t.not(secret, body.secret);
	t.is((await regolith(['roles'], { PERMIT_API_KEY: secret })).code, 0);
	documented(t, ['keys', 'revoke'], await regolith(['keys', 'revoke', body.id, '--json']));
	const refused = await regolith(['roles'], { PERMIT_API_KEY: secret });
	t.is(refused.code, 2);
	t.false(refused.wrong.includes(secret));
});

test('a policy folder is written, and tested together with the user’s own tests', async (t) => {
	const out = temporary(t);
	const written = await regolith(['policy', '--output', out, '--json']);
	t.like(documented(t, ['policy'], written), { environment: 'default/dev', folder: out });
	// Concurrent tests change the schema, so the newest policy may not be active yet.
	const words = ['write-test', 'ann', 'read', 'report', '-t', 'acme', '--revision', String(reached)];
	const { test: text } = documented<{ test: string }>(t, ['write-test'], await regolith([...words, '--json']));
	t.is((await regolith(words)).said, text);
	const asked = await regolith([...words, '--output', join(out, 'ann_test.rego')]);
	t.is(asked.said, `# Test written to ${join(out, 'ann_test.rego')}\n`);
	t.is(readFileSync(join(out, 'ann_test.rego'), 'utf8'), text);
	const passing = await regolith(['test', out, '--run', 'checks_test', '--json']);
	t.like(JSON.parse(passing.said), { passed: 1, failed: 0 });
	writeFileSync(join(out, 'own_test.rego'), readFileSync(join(folder, 'tests/own_test.rego')));
	const ran = await regolith(['test', out, '--run', 'own_test', '--json']);
	t.is(ran.code, 1, ran.wrong);
	t.like(documented(t, ['test'], ran), { passed: 1, failed: 1 });
	const failing = await regolith(['test', join(folder, 'tests'), '--facts', '--run', 'own_test']);
	t.is(failing.code, 1);
	t.regex(failing.said, /^FAIL {2}data\.own_test\.test_wrong {2}own_test\.rego:5\n1 of 2 tests pass, /);
	mkdirSync(join(folder, 'broken'));
	writeFileSync(join(folder, 'broken/own_test.rego'), 'package own_test\n\ntest_x if {\n');
	const broken = await regolith(['test', join(folder, 'broken')]);
	t.is(broken.code, 2);
	t.regex(broken.wrong, /opa failed to run the tests: [\s\S]*own_test\.rego/);
});

test('check tests run on the server, with and without a draft', async (t) => {
	const check = { user: 'nobody', action: 'read', resource: { type: 'document', key: 'q3', tenant: 'acme' } };
	const made = await stack.environment.post(`${schema}/check_tests`, { key: 'strangers', check, expected: 'deny' });
	t.is(made.status, 200);
	const draft = join(folder, 'check-tests-draft.json');
	writeFileSync(draft, '{"base_revision": 1, "changes": []}');
	const passing = await regolith(['test', '--draft', draft, '--coverage']);
	t.is(passing.code, 0, passing.wrong);
	t.regex(
		passing.said,
		/^1 of 1 check tests pass\ncovered: 1 of \d+ permissions, [\s\S]*No test checks the permission /,
	);
	await stack.environment.patch(`${schema}/check_tests/strangers`, { expected: 'allow' });
	const failing = await regolith(['test', '--draft', draft]);
	t.is(failing.code, 1, failing.wrong);
	t.regex(failing.said, /^FAIL {2}strangers {2}nobody read document:q3 in acme: expected allow, got \w+\n0 of 1 check/);
	t.regex((await regolith(['test', folder, '--draft', draft])).wrong, /^--draft: cannot be combined with a folder/);
	t.is((await stack.environment.delete(`${schema}/check_tests/strangers`)).status, 204);
});

test('logged decisions are followed', async (t) => {
	const words = ['logs', '--follow', '--json', '--action', 'follow'];
	const running = launch({ command: words, env: surroundings() });
	t.teardown(async () => {
		await running.kill('SIGKILL');
	});
	const log = async (user: string, time: number) => {
		const input = { user: { key: user }, action: 'follow', resource: { type: 'report', tenant: 'acme' } };
		const decision = { decision_id: `follow-${user}`, timestamp: new Date(time).toISOString(), input };
		await stack.environment.post('/v1/decision_logs/ingress', [
			{ ...decision, result: { allow: true, code: 'allow' } },
		]);
	};
	const seen = () => running.stdout().trim().split('\n').filter(Boolean);
	const now = Date.now();
	await log('first', now);
	await eventually(seen, (lines) => lines.length === 1);
	// An event that arrived late is also printed.
	await log('late', now - 10_000);
	await log('second', now + 1_000);
	const lines = await eventually(seen, (all) => all.length === 3);
	t.deepEqual(new Set(lines.map((line) => JSON.parse(line).user)), new Set(['first', 'late', 'second']));
});

/** Failures, each with the variables or words that cause it, and the expected message. */
type Failing = readonly [
	words: readonly string[],
	env: () => Readonly<Record<string, string>>,
	says: readonly RegExp[],
];

const none = () => ({});
const failing: readonly Failing[] = [
	[['roles'], () => ({ PERMIT_API_KEY: '' }), [/^PERMIT_API_KEY is not set\. Set it to an API key/]],
	[['roles'], () => ({ PERMIT_API_URL: nowhere }), [/^Cannot connect to http:.*set PERMIT_API_URL to/]],
	[['check', 'a', 'b', 'c'], () => ({ PERMIT_PDP_URL: nowhere }), [/^Cannot connect to .*set PERMIT_PDP_URL/]],
	[
		['check', 'a', 'b', 'c'],
		() => ({ PDP_API_KEY: stack.keys.project }),
		[
			/^this API key does not match the decision point's key/,
			/^\(403 from POST http:.*\/allowed, with the key in PDP_API_KEY\)$/m,
		],
	],
	[
		['envs'],
		() => ({ PERMIT_API_KEY: 'permit_key_unknown' }),
		[/^\(401 from GET http:.*\/v2\/projects\?.*, with the key in PERMIT_API_KEY\)$/m],
	],
	[['check', 'a', 'b', 'c'], () => ({ PERMIT_PDP_URL: stack.api.listening.url }), [/40\d from POST http/]],
	[
		['roles'],
		() => ({ PERMIT_API_KEY: stack.keys.organization }),
		[/has access to several .*--project and --environment/],
	],
	[
		['roles', '--api', 'http://127.0.0.1:1'],
		none,
		[/^Cannot connect to http:\/\/127.0.0.1:1 \(.*\)\. Start the server, or pass a different URL with --api\.\n$/],
	],
	[['roles', 'nobody'], none, [/^User `nobody` does not exist\n/, /404 from GET/]],
	[['roles', 'ann', '-t', 'nope'], none, [/^Tenant `nope` does not exist\n/, /404 from GET/]],
	[['roles', '-t', 'acme'], none, [/^--tenant: requires a user[^\n]*\n$/]],
	[['roles', '..'], none, [/^The key `\.\.` cannot be part of a URL\. Use the ID [^\n]*\n$/]],
	[['envs', '-p', 'nope'], none, [/^--project: project `nope` does not exist, [^\n]*PERMIT_API_KEY[^\n]*\n$/]],
	[['keys', 'list', '-p', 'nope'], none, [/^--project: project `nope` does not exist, [^\n]*PERMIT_API_KEY[^\n]*\n$/]],
	[
		['keys', 'list', '-e', 'nope'],
		none,
		[/^--environment: environment `nope` does not exist, [^\n]*PERMIT_API_KEY[^\n]*\n$/],
	],
	[['keys', 'list', '-p', 'default', '-e', 'nope'], none, [/environment `nope` in project `default` does not exist/]],
	[['assign', 'ann', 'reader'], none, [/^Specify a tenant /]],
	[['assign', 'ann', 'reader', '-t', 'acme', '--until', 'soon'], none, [/^body\.expires_at: /, /422 from POST/]],
	[['check', 'a', 'b', 'c', '--context', '[]'], none, [/^--context: must be a JSON object/]],
	[['import', '/nowhere.json'], none, [/^\/nowhere\.json: ENOENT/]],
	[['logs', '--code', 'not a code'], none, [/^query\.code: must be a code such as/, /422 from GET/]],
	[['logs', '--since', 'tomorrow'], none, [/^--since: `tomorrow` must be a time such as [^\n]*\n$/]],
	[['check', 'a', 'b', 'c', '--min-revision', '✓'], none, [/^--min-revision: `✓` is not a revision[^\n]*\n$/]],
	[['policy', '-o', '/dev/null'], none, [/^\/dev\/null[^\n]*: ENOTDIR[^\n]*\n$/]],
	[['policy', '-o', '/dev/null/x'], none, [/^\/dev\/null[^\n]*: ENOTDIR[^\n]*\n$/]],
	[['inspect', '-o', '/dev/null'], none, [/^\/dev\/null[^\n]*: ENOTDIR[^\n]*\n$/]],
	[['test', '/dev/null'], none, [/^\/dev\/null is not a folder\. [^\n]*\n$/]],
	[['test', '/nowhere'], none, [/^\/nowhere: ENOENT[^\n]*\n$/]],
	[['check', 'ann', 'read'], none, [/missing required argument/]],
	[['nonsense'], none, [/unknown command/]],
	[['envs', '--tenant', 'acme'], none, [/unknown option/]],
];

test('errors are reported in one sentence with the key’s variable and the URL, and the exit code is 2', async (t) => {
	await runConcurrently(failing, async ([words, env, says]) => {
		const ran = await regolith(words, env());
		const what = `${words.join(' ')}\n${ran.said}${ran.wrong}`;
		t.is(ran.code, 2, what);
		t.is(ran.said, '', what);
		for (const pattern of says) t.regex(ran.wrong, pattern, what);
		t.notRegex(ran.wrong, /permit_key_|^ {4}at |\{/m, what);
	});
});

test('`status` reports problems, with exit code 1', async (t) => {
	const ran = await regolith(['status', '--json', '--pdp', nowhere]);
	t.is(ran.code, 1);
	const { problems } = documented<{ problems: readonly string[] }>(t, ['status'], ran);
	// Concurrent tests change the schema, so the newest policy may not be compiled yet.
	const others = problems.filter((problem) => !problem.startsWith('the active policy is out of date'));
	t.is(others.length, 1);
	t.regex(others[0] ?? '', /^Cannot connect to/);
	const other = await regolith(['status'], { PDP_API_KEY: stack.keys.project });
	t.is(other.code, 1);
	t.regex(other.said, /^! this API key does not match the decision point's key$/m);
});

test('the help lists every command, and a completion script is printed', async (t) => {
	const help = await regolith(['--help']);
	t.is(help.code, 0);
	t.regex(help.said, /^ {2}check \[options\] <user> <action> <resource>/m);
	t.regex((await regolith(['completion', 'fish'])).said, /^complete -c regolith /m);
});
