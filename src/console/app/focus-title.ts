/**
 * Moves focus to the screen title when the focused element disappears. Otherwise focus would return to the start of the page.
 */
export function focusTitle(): void {
	document.querySelector('h1')?.focus({ preventScroll: true });
}
