/** The steps in which a distance in time is told, in seconds. */
const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
	['year', 31_557_600],
	['month', 2_629_800],
	['day', 86_400],
	['hour', 3600],
	['minute', 60],
	['second', 1],
];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** An instant, as its distance from the present. The exact time is in its title. */
export function TimeText({ at }: { readonly at: string }) {
	return (
		<time dateTime={at} title={at}>
			{distanceText(Date.parse(at) - Date.now())}
		</time>
	);
}

function distanceText(milliseconds: number): string {
	const seconds = Math.round(milliseconds / 1000);
	const [unit, length] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
	return format.format(Math.round(seconds / length), unit);
}
