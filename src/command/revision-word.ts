import { ConfigError } from '../config.js';
import { parseRevision } from '../wire/revision-token.js';
import { visible } from './terminal.js';

export function isRevision(text: string): boolean {
	return /^\d{1,15}$/.test(text);
}

/** Returns the `--min-revision` value. Throws `ConfigError` if it is neither a revision number nor a revision token. */
export function requireAwaited(word: string): string {
	if (parseRevision(word) !== null) return word;
	throw new ConfigError(`--min-revision: \`${visible(word)}\` is not a revision number or revision token`);
}

/** Returns an argument or option value. Throws `ConfigError` if it is not a revision number. */
export function requireRevision(word: string, option?: string): string {
	if (isRevision(word)) return word;
	const named = option === undefined ? '' : `${option}: `;
	throw new ConfigError(`${named}\`${visible(word)}\` is not a revision number`);
}
