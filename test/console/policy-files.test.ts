import test from 'ava';
import fc from 'fast-check';
import { writeConditionSet } from '../../compiler/policy/set-policy.js';
import { keyFolder } from '../../compiler/rego/path.js';
import {
	changedFiles,
	conditionSetFile,
	type PolicyNode,
	policyPart,
	policyTree,
	regoOutline,
} from '../../src/console/model/policy/policy-files.js';
import { anyCodePoint } from '../support/any-code-point.js';
import { userSet } from '../support/conditions.js';

/** Policy files in the console. */

const empty = (path: string) => ({ path, text: '' });

function listed(nodes: readonly PolicyNode[]): readonly unknown[] {
	return nodes.map((node) => (node.kind === 'file' ? node.name : [node.name, node.count, ...listed(node.nodes)]));
}

test('files are shown as a tree, folders first, and a folder with a single file is merged into the file’s name', (t) => {
	const paths = [
		'b/x.rego',
		'b/y.rego',
		'a/one/held.rego',
		'a/two/held.rego',
		'a/two/more.rego',
		'z.rego',
		'c/d/e.rego',
	];
	t.deepEqual(listed(policyTree(paths.map(empty))), [
		['a', 3, 'one/held.rego', ['two', 2, 'held.rego', 'more.rego']],
		['b', 2, 'x.rego', 'y.rego'],
		'c/d/e.rego',
		'z.rego',
	]);
	t.deepEqual(policyTree([]), []);
});

const hostileKey = fc.string({ unit: anyCodePoint, minLength: 1, maxLength: 40 });

test('each file is in the tree once, for any paths', (t) => {
	const path = fc
		.array(hostileKey.map(keyFolder), { minLength: 1, maxLength: 4 })
		.map((steps) => `${steps.join('/')}/x.rego`);
	fc.assert(
		fc.property(fc.uniqueArray(path), (paths) => {
			const found: string[] = [];
			const walk = (nodes: readonly PolicyNode[]): void => {
				for (const node of nodes) {
					if (node.kind === 'file') found.push(node.path);
					else walk(node.nodes);
				}
			};
			walk(policyTree(paths.map(empty)));
			t.deepEqual([...found].sort(), [...paths].sort());
		}),
	);
});

test('a file’s outline lists the METADATA titles with the lines that they describe', (t) => {
	const text = [
		'# Generated',
		'',
		'# METADATA',
		'# title: "The \\"plan\\""',
		'# description: "title: no"',
		'# custom:',
		'#   key: "plan"',
		'#   kind: resource',
		'package regolith.resources.plan',
		'',
		'# METADATA',
		'# scope: rule',
		'untitled if true',
		'# METADATA',
		'# title: plain',
		'permits if true',
	].join('\n');
	t.deepEqual(regoOutline(text), [
		{ line: 9, title: 'The "plan"', description: 'title: no', kind: 'resource', key: 'plan' },
		{ line: 16, title: 'plain', description: null, kind: null, key: null },
	]);
	t.is(policyTree([{ path: 'a.rego', text }])[0]?.name, 'a.rego');
	t.like(policyTree([{ path: 'a.rego', text }])[0], { title: 'The "plan"' });
});

test('a condition set’s key identifies its file', (t) => {
	fc.assert(
		fc.property(hostileKey, (key) => {
			const file = writeConditionSet(userSet(key, {}));
			const other = writeConditionSet(userSet(`${key}2`, {}));
			t.is(conditionSetFile([other, file], 'userset', key), file);
			t.is(conditionSetFile([file], 'resourceset', key), undefined);
			t.is(conditionSetFile([other], 'userset', key), undefined);
		}),
	);
});

test('the difference between two policies lists added, removed and changed files', (t) => {
	const before = [
		{ path: 'a', text: '1\n2\n' },
		{ path: 'b', text: 'x\n' },
		{ path: 'same', text: '' },
	];
	const after = [
		{ path: 'c', text: 'y\nz\n' },
		{ path: 'a', text: '1\n3\n' },
		{ path: 'same', text: '' },
	];
	t.deepEqual(changedFiles(before, after), [
		{ path: 'a', before: '1\n2\n', after: '1\n3\n', added: 1, removed: 1 },
		{ path: 'b', before: 'x\n', after: null, added: 0, removed: 1 },
		{ path: 'c', before: null, after: 'y\nz\n', added: 2, removed: 0 },
	]);
	t.deepEqual(['a/data.json', 'a/x.rego', 'a/schema_test.rego'].map(policyPart), ['tables', 'rules', 'tests']);
});
