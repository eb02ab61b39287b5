import querystring from 'node:querystring';
import { unprocessable } from '../failure.js';

/**
 * Rejects percent-encodings that are not UTF-8. Decoding would silently replace them by U+FFFD. The error contains the
 * parameter. `%ZZ` is plain text and not a percent-encoding. Throws `unprocessable`.
 */
export function requireUnicode(query: string): void {
	if (isUnicode(query)) return;
	const wrong = query.split('&').filter((parameter) => !isUnicode(parameter));
	const names = wrong.map((parameter) => querystring.unescape(parameter.split('=', 1)[0] ?? ''));
	const msg = 'must be percent-encoded UTF-8';
	throw unprocessable(names.map((name) => ({ loc: ['query', name], msg, type: 'ill_formed' })));
}

function isUnicode(text: string): boolean {
	try {
		decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
		return true;
	} catch {
		return false;
	}
}
