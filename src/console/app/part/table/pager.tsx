import { Button } from '../../../part/button.js';

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
			<Button disabled={page <= 1} onClick={() => turnTo(page - 1)}>
				Previous
			</Button>
			<span>
				Page {page} of {Math.max(pageCount, 1)}, {totalCount.toLocaleString('en')} in total
			</span>
			<Button disabled={page >= pageCount} onClick={() => turnTo(page + 1)}>
				Next
			</Button>
		</nav>
	);
}
