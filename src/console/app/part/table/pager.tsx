import { Button } from '../../../part/button.js';
import { useSearch } from '../../use-search.js';

interface PagerProps {
	readonly page: number;
	/** Counts of the whole list. */
	readonly list: { readonly page_count: number; readonly total_count: number };
	/** Opens a page; by default, stores its number in the address as `page`. */
	readonly turnTo?: (page: number) => void;
}

/** Navigation between list pages. */
export function Pager({ page, list: { page_count, total_count }, ...props }: PagerProps) {
	const search = useSearch();
	const { turnTo = (next: number) => search.set({ page: String(next) }) } = props;
	if (page_count < 2 && page === 1) return null;
	return (
		<nav class="line" aria-label="Pages">
			<Button disabled={page <= 1} onClick={() => turnTo(page - 1)}>
				Previous
			</Button>
			<span>
				Page {page} of {Math.max(page_count, 1)}, {total_count.toLocaleString('en')} in total
			</span>
			<Button disabled={page >= page_count} onClick={() => turnTo(page + 1)}>
				Next
			</Button>
		</nav>
	);
}
