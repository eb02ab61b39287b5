interface PagerProps {
	readonly page: number;
	readonly pageCount: number;
	readonly totalCount: number;
	readonly turnTo: (page: number) => void;
}

/** Navigation between list pages. */
export function Pager({ page, pageCount, totalCount, turnTo }: PagerProps) {
	if (pageCount < 2 && page === 1) return null;
	return (
		<nav class="line" aria-label="Pages">
			<button type="button" disabled={page <= 1} onClick={() => turnTo(page - 1)}>
				Previous
			</button>
			<span>
				Page {page} of {Math.max(pageCount, 1)}, {totalCount.toLocaleString('en')} in total
			</span>
			<button type="button" disabled={page >= pageCount} onClick={() => turnTo(page + 1)}>
				Next
			</button>
		</nav>
	);
}
