/**
 * Moves focus to the screen title. Called when the focused element disappears, because focus would return to the start
 * of the page.
 */
export function focusTitle(): void {
	document.querySelector('h1')?.focus({ preventScroll: true });
}
