import test from 'ava';
import { ClockComparison } from '../../src/pdp/follow/clock-comparison.js';

test('the begin and the end of a clock difference are each reported once', (t) => {
	const logged: string[] = [];
	const tell = (...words: readonly unknown[]) => {
		logged.push(String(words.at(-1)));
	};
	const told = Date.parse('2026-01-31T12:00:00Z');
	let now = told;
	const log = { debug: tell, info: tell, warn: tell, error: tell, isLevelEnabled: () => true };
	const clocks = new ClockComparison(log, () => now);
	const note = (date: string) => clocks.note({ headers: new Headers({ date }) });
	const cases = [
		[30_000, 0, undefined],
		[
			3_600_000,
			3_600,
			'the clock is 60 min ahead of the clock of the control plane: grants end too early, and the control plane may reject decisions',
		],
		[3_605_000, 3_605, undefined],
		[0, 0, 'the clock agrees with the clock of the control plane again'],
		[-3_600_000, -3_600, 'the clock is 60 min behind the clock of the control plane: grants end too late'],
		[-1_000, 0, 'the clock agrees with the clock of the control plane again'],
	] as const;
	for (const [difference, seconds, line] of cases) {
		now = told + difference;
		note('Sat, 31 Jan 2026 12:00:00 GMT');
		t.is(clocks.secondsAhead, seconds);
		t.is(logged.shift(), line);
		t.is(logged.length, 0);
	}
	note('soon');
	t.is(clocks.secondsAhead, 0, 'a response without a time is ignored');
});
