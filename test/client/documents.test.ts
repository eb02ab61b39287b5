// @rest

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { apiDocument, decisionPointDocument } from '../support/documents.js';
import { root } from '../support/root.js';
import { removeFolder, temporaryFolder } from '../support/temporary.js';

/**
 * External tools accept both documents: the linter finds no problems, and natural calls to the generated clients
 * compile.
 */

interface Problem {
	readonly file: string;
	readonly rule: string;
	readonly at: string;
	readonly message: string;
}

interface Findings {
	readonly problems: readonly Problem[];
	readonly errors: readonly string[];
}

/** Linter findings that are allowed, each with a reason. */
const exceptions: readonly { readonly rule: string; readonly at: RegExp; readonly because: string }[] = [
	{
		rule: 'operation-4xx-response',
		at: /^#\/paths\/~1((healthy|health|healthcheck|ready|version|openapi\.json|v2~1auth~1logout)?)\//,
		because: 'these endpoints need no key and read no input, so no request is invalid',
	},
	{
		rule: 'no-ambiguous-paths',
		at: /^#\/paths\/~1v2~1(projects~1{proj_id}~1{env_id}~1policy|schema~1{proj_id}~1{env_id}~1groups~1{group_instance_key}~1\w+)$/,
		because: 'the contract defines these paths; a fixed segment takes precedence over a parameter',
	},
];

let findings: Findings;

test.before('lint, generate and compile', async () => {
	const tools = process.env['CLIENT_TOOLS'];
	if (tools === undefined) throw new Error('run this file with `npm test -- test/client/documents.test.ts`');
	const folder = temporaryFolder();
	try {
		writeFileSync(join(folder, 'api.json'), JSON.stringify(await apiDocument()));
		writeFileSync(join(folder, 'decision-point.json'), JSON.stringify(await decisionPointDocument()));
		const parameters = [join(root, 'test/client/check.mjs'), tools, folder, 'api.json', 'decision-point.json'];
		const { stdout } = await promisify(execFile)(process.execPath, parameters, { maxBuffer: 1 << 26 });
		findings = JSON.parse(stdout);
	} finally {
		removeFolder(folder);
	}
});

test('linting both documents reports only the listed exceptions', (t) => {
	const isExcepted = ({ rule, at }: Problem) => exceptions.some((one) => one.rule === rule && one.at.test(at));
	t.deepEqual(
		findings.problems.filter((problem) => !isExcepted(problem)),
		[],
	);
});

test('every exception is needed', (t) => {
	for (const { rule, at } of exceptions) {
		t.true(
			findings.problems.some((problem) => problem.rule === rule && at.test(problem.at)),
			`${rule} ${at}`,
		);
	}
});

test('correct calls compile with the generated clients, and wrong calls do not', (t) => {
	t.deepEqual(findings.errors, []);
});
