/** Moves the focus to the title of the screen, where what had it goes away: otherwise it would begin at the page again. */
export function focusTitle(): void {
	document.querySelector('h1')?.focus({ preventScroll: true });
}
