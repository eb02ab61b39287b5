import { domainToUnicode } from 'node:url';
import { z } from 'zod';

/**
 * Top-level domains without a global meaning. If a user had such an address, clients that validate addresses in
 * responses would reject the user.
 */
const specialUse: ReadonlySet<string> = new Set(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test']);

const atom = "[\\p{L}\\p{N}\\p{M}!#$%&'*+\\-/=?^_`{|}~]+";
const localPart = new RegExp(`^${atom}(?:\\.${atom})*$`, 'u');
/** Domain label in any script. `--` in the third and fourth place is reserved for encoded labels (`xn--`). */
const label = /^(?:xn--|(?!..--))[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*$/iu;

const maxLocalLength = 64;
const maxLabelLength = 63;
const maxDomainLength = 253;
const maxAddressBytes = 254;

/**
 * E-mail address in the form that mail systems accept. Quoted names and address literals are rejected. The domain must
 * contain a dot, and its top level must be neither numeric nor reserved (`arpa invalid local localhost onion test`).
 * The message never changes, because a client library searches for its words.
 */
export const Email = z.string().refine(isEmail, 'value is not a valid email address').meta({ format: 'email' });

/**
 * True if two addresses are equal. Ignores the case of ASCII letters. All other characters must be identical: some,
 * such as U+212A, have an ASCII letter (`k`) as their lowercase form, but belong to different mailboxes.
 */
export function isSameAddress(left: string, right: string): boolean {
	return withoutAsciiCase(left) === withoutAsciiCase(right);
}

function withoutAsciiCase(address: string): string {
	return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function isEmail(text: string): boolean {
	if (text.length > maxAddressBytes || new TextEncoder().encode(text).length > maxAddressBytes) return false;
	const at = text.lastIndexOf('@');
	const local = text.slice(0, at);
	return at > 0 && local.length <= maxLocalLength && localPart.test(local) && isDomain(text.slice(at + 1));
}

function isDomain(domain: string): boolean {
	if (!domain.split('.').every((part) => label.test(part) && !part.endsWith('-'))) return false;
	const host = asciiHost(domain);
	const labels = host.split('.');
	const top = labels.at(-1) ?? '';
	return (
		labels.length > 1 &&
		host.length <= maxDomainLength &&
		labels.every((part) => part.length <= maxLabelLength) &&
		/[a-z]$/.test(top) &&
		!specialUse.has(top) &&
		// Newer Node.js versions accept invalid encoded labels and leave them unchanged.
		!domainToUnicode(host).includes('xn--')
	);
}

/** Returns a domain in DNS form, in lowercase. Returns an empty string if the domain has no such form. */
function asciiHost(domain: string): string {
	try {
		return new URL(`http://${domain}`).hostname;
	} catch {
		return '';
	}
}
