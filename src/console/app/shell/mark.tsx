/** The mark of the product: loose rock on a round body. */
export function Mark() {
	return (
		<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
			<circle cx="12" cy="12" r="10.5" class="mark-body" />
			<circle cx="9" cy="8" r="1.8" />
			<circle cx="15.5" cy="6.8" r="1.1" />
			<path d="M1.8 14.6C5 12.4 8.4 12.6 12 14.2s7 1.6 10.3-.4A10.5 10.5 0 0 1 1.8 14.6z" />
		</svg>
	);
}
