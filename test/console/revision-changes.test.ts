import test from 'ava';
import { schemaKinds, summariseRevisions, summaryText } from '../../src/console/model/change/revision-changes.js';
import { ChangeKind } from '../../src/wire/general/change.js';

/** Summaries in the list of published policies. */

const ann = { id: '1', name: 'ann' };
const changes = [
	{ revision: 9, operation: 'create', actor: null },
	{ revision: 7, operation: 'update', actor: ann },
	{ revision: 6, operation: 'delete', actor: { id: '2', name: null } },
	{ revision: 6, operation: 'delete', actor: ann },
	{ revision: 3, operation: 'create', actor: ann },
] as const;

const complete = { isLast: true, isComplete: true };

test('each published policy lists the changes since the previous policy', (t) => {
	const told = summariseRevisions([9, 7, 4], changes, complete);
	t.deepEqual(told, [
		{ authors: ['server'], created: 1, updated: 0, deleted: 0 },
		{ authors: ['ann', '2'], created: 0, updated: 1, deleted: 2 },
		{ authors: ['ann'], created: 1, updated: 0, deleted: 0 },
	]);
	t.deepEqual(
		told.flatMap((one) => (one === null ? [] : summaryText(one))),
		['1 created', '1 updated, 2 deleted', '1 created'],
	);
	t.deepEqual(
		summariseRevisions([9, 7], changes, { ...complete, isLast: false })[1],
		null,
		'the previous policy is unknown',
	);
	const cut = summariseRevisions([9, 7, 4, 1], changes.slice(0, 3), { isLast: true, isComplete: false });
	t.deepEqual(
		cut.map((one) => one !== null),
		[true, false, false, false],
		'earlier changes are unknown',
	);
	t.deepEqual(summariseRevisions([], [], complete), []);
	const nothing = summariseRevisions([5], [], complete)[0];
	t.is(nothing === null || nothing === undefined ? '' : summaryText(nothing), 'no schema changes');
});

test('the schema kinds are kinds in the change log', (t) => {
	for (const kind of schemaKinds) t.true(ChangeKind.safeParse(kind).success, kind);
});
