import { signal } from '@preact/signals';
import { visibleText } from '../model/visible-text.js';

const announced = signal('');

/** Announces an event to all users, including screen reader users. Omits the backticks around names. */
export function announce(text: string): void {
	announced.value = visibleText(text.replaceAll('`', ''));
}

/**
 * Element for announcements. Every page contains it from the start, because screen readers report changes to existing
 * elements.
 */
export function Announcement() {
	return (
		<p class="announcement" role="status">
			{announced.value}
		</p>
	);
}
