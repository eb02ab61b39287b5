/** Units for relative times, in seconds. */
const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
	['year', 31_557_600],
	['month', 2_629_800],
	['day', 86_400],
	['hour', 3600],
	['minute', 60],
	['second', 1],
];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** Time relative to now, such as `5 min ago`. The full time is in the title, and in the text for screen readers. */
export function TimeText({ at }: { readonly at: string }) {
	const full = new Date(at).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'medium' });
	return (
		<time dateTime={at} title={full}>
			{distanceText(Date.parse(at) - Date.now())}
			<span class="unseen">, {full}</span>
		</time>
	);
}

function distanceText(milliseconds: number): string {
	const seconds = Math.round(milliseconds / 1000);
	const [unit, length] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
	return format.format(Math.round(seconds / length), unit).replace('.', '');
}
