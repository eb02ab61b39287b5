/** Units for relative times, in seconds. */
const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
	['year', 31_557_600],
	['month', 2_629_800],
	['day', 86_400],
	['hour', 3600],
	['minute', 60],
	['second', 1],
];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Time relative to now, with the exact time in the title. */
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
