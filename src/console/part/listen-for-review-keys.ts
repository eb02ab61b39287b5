export type ReviewMove = 'approve' | 'deny';

/**
 * Handles single keys while a request list has focus, except in text fields. List items have the attribute
 * `data-request`. `j` and `k` move between items. `a` and `d` call `choose` with the focused item's id and the action,
 * and Escape calls it with `null`. Returns a function that stops listening.
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

/**
 * Keeps the focus in an item after its form closes, until the item's buttons are rendered again, so no key press is
 * lost.
 */
function holdFocus(item: HTMLElement): void {
	item.tabIndex = -1;
	item.focus();
	setTimeout(() => {
		if (document.activeElement === item) item.querySelector('button')?.focus();
		item.removeAttribute('tabindex');
	});
}
