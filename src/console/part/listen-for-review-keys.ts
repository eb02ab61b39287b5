/** What a reviewer does to a request. */
export type ReviewMove = 'approve' | 'deny';

/**
 * Single keys that act while the focus is in a list of requests, but not where text is written. The items of the list
 * have `data-request`. `j` and `k` move between them; `choose` is called with the one that has the focus, and `null` to go
 * back. Returns what ends it.
 */
export function listenForReviewKeys(
	list: HTMLElement | null,
	choose: (id: string, move: ReviewMove | null) => void,
): () => void {
	const listen = (event: KeyboardEvent) => {
		if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.altKey) return;
		const item = event.target.closest<HTMLElement>('[data-request]');
		const id = item?.dataset['request'];
		if (item === null || id === undefined) return;
		if (event.key !== 'Escape' && event.target.matches('input, select, textarea')) return;
		const form = event.target.closest('form');
		const act = {
			Escape: () => {
				if (form !== null) holdFocus(item);
				choose(id, null);
			},
			a: () => choose(id, 'approve'),
			d: () => choose(id, 'deny'),
			j: () => item.nextElementSibling?.querySelector('button')?.focus(),
			k: () => item.previousElementSibling?.querySelector('button')?.focus(),
		}[event.key];
		if (act === undefined) return;
		event.preventDefault();
		act();
	};
	list?.addEventListener('keydown', listen);
	return () => list?.removeEventListener('keydown', listen);
}

/** Keeps the focus of a form that goes in its item, so that no key is lost, until the item has its buttons again. */
function holdFocus(item: HTMLElement): void {
	item.tabIndex = -1;
	item.focus();
	setTimeout(() => {
		if (document.activeElement === item) item.querySelector('button')?.focus();
		item.removeAttribute('tabindex');
	});
}
