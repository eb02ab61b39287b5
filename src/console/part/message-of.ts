import { visibleLines } from '../model/visible-text.js';

/** What an error tells a person. Its unseen characters are written out: it may quote keys. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? visibleLines(error.message) : 'Something went wrong.';
}
