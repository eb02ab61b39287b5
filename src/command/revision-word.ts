import { ConfigError } from '../config.js';
import { visible } from './terminal.js';

/** Whether a text names a revision. */
export function isRevision(text: string): boolean {
	return /^\d{1,15}$/.test(text);
}

/** Returns an argument, or the value of the option that is named, if it names a revision. Throws `ConfigError` otherwise. */
export function requireRevision(word: string, option?: string): string {
	if (isRevision(word)) return word;
	const named = option === undefined ? '' : `${option}: `;
	throw new ConfigError(`${named}\`${visible(word)}\` is not a revision, which is a whole number`);
}
