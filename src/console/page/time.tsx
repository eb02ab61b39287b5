/** Time in the user's language and zone. */
export function Time({ at }: { readonly at: string }) {
	const shown = new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
	return (
		<time class="quiet" dateTime={at}>
			{shown}
		</time>
	);
}
