import { visibleLines } from '../model/visible-text.js';

/** Returns the message of an error for people. Its unseen characters are written out, because it may quote keys. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? visibleLines(error.message) : 'Something went wrong.';
}
