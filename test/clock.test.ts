import test from 'ava';
import { systemClock } from '../src/clock.js';

test('ids are distinct UUIDs of version 7, and later ids sort after earlier ids', (t) => {
	const ids = Array.from({ length: 10_000 }, () => systemClock.newId());
	t.deepEqual(ids.toSorted(), ids);
	t.is(new Set(ids).size, ids.length);
	const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
	t.deepEqual(
		ids.filter((id) => !form.test(id)),
		[],
	);
});
