import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { endpoints } from '../../src/api/table.js';
import { v2Successor } from '../../src/wire/v1.js';
import { root } from '../support/root.js';

/**
 * `docs/develop/migration.md` lists the successors of version 1 paths. The 410 responses for version 1 name the same
 * successors, and the API serves them.
 */

const page = readFileSync(join(root, 'docs/develop/migration.md'), 'utf8');
const rows = [...page.matchAll(/^\| ([A-Za-z ]+) \| `(\/v2[^`]+)` \|$/gm)].map(([, what = '', path = '']) => ({
	what,
	path,
}));

test('the table lists the same paths as the responses to version 1 calls', (t) => {
	t.true(rows.length >= 15);
	for (const { what, path } of rows) {
		// `actions of a resource` were below `/v1/resources/x/actions`.
		const [inner = '', outer = ''] = what
			.replaceAll('API keys', 'api_keys')
			.replaceAll(/role a/g, 'role_a')
			.split(' of an ');
		const [type = '', of = outer] = inner.split(' of a ');
		const old = `/v1/${of === '' ? '' : `${of}s/x/`}${type.replaceAll(' ', '_')}`;
		t.is(v2Successor(old), path, old);
	}
});

test('every path in the table is served', (t) => {
	const served = new Set(endpoints.map((endpoint) => endpoint.path.replace(/:(\w+)/g, '{$1}')));
	for (const { path } of rows) t.true(served.has(path), path);
});
