import { signal } from '@preact/signals';
import { visibleText } from '../model/visible-text.js';

const announced = signal('');

/** Tells users of screen readers, and everybody else, what has just happened. */
export function announce(text: string): void {
	announced.value = visibleText(text);
}

/** Where it is told. There is one on a page, from the beginning: screen readers notice changes of it. */
export function Announcement() {
	return (
		<p class="announcement" role="status">
			{announced.value}
		</p>
	);
}
