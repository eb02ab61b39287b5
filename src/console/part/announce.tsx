import { signal } from '@preact/signals';
import { visibleText } from '../model/visible-text.js';

const announced = signal('');

/** Announces an event to all users, including screen reader users. */
export function announce(text: string): void {
	announced.value = visibleText(text);
}

/** Place for announcements. Each page has one from the start, because screen readers report its changes. */
export function Announcement() {
	return (
		<p class="announcement" role="status">
			{announced.value}
		</p>
	);
}
