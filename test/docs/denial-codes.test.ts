import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { dataOutdated } from '../../src/pdp/decide/decide.js';
import { evaluationFailed } from '../../src/pdp/engine/engine.js';
import { environmentDeleted } from '../../src/pdp/follow/deleted-environment.js';
import { noMatchingRule } from '../../src/pdp/gateway/url-endpoint.js';
import { root } from '../support/root.js';

/** Denials link to a section in `docs/develop/denial-codes.md`: each code from the policy has a section. */

const policy = ['rbac', 'rebac', 'abac', 'check']
	.map((model) => readFileSync(join(root, `policy/regolith/${model}/${model}.rego`), 'utf8'))
	.join('\n');
const codes = [...policy.matchAll(/(?:(?:denial|unknown) :=|else :=) "([a-z_]+)"/g)]
	.map(([, code]) => code ?? '')
	.filter((code) => code !== 'allow');
const page = readFileSync(join(root, 'docs/develop/denial-codes.md'), 'utf8');
const sections = [...page.matchAll(/^#+ `?([a-z_]+)`?$/gm)].map(([, section]) => section);

test('denial codes are found in the policy', (t) => {
	t.true(codes.length >= 14, codes.join());
});

for (const code of new Set([...codes, dataOutdated, environmentDeleted, evaluationFailed, noMatchingRule])) {
	test(`${code} has a section`, (t) => {
		t.true(sections.includes(code), sections.join());
	});
}
