import { visibleLines } from '../model/visible-text.js';

/**
 * Returns a human-readable message for an error. Escapes invisible characters, because the message may contain keys.
 */
export function messageOf(error: unknown): string {
	return error instanceof Error ? visibleLines(error.message) : 'Something went wrong.';
}
