/** Shortens unknown values, which may be long or deep, for messages. */

import { isObject } from '../json.js';

/** Returns abridged JSON for messages. */
export function excerpt(value: unknown): string {
	if (Array.isArray(value)) {
		return `[${abridged(value.map(nestedExcerpt))}]`;
	}
	if (isObject(value)) {
		return `{${abridged(Object.entries(value).map(([name, member]) => `${nestedExcerpt(name)}: ${nestedExcerpt(member)}`))}}`;
	}
	return nestedExcerpt(value);
}

const maxShown = 3;

function abridged(parts: readonly string[]): string {
	return [...parts.slice(0, maxShown), ...(parts.length > maxShown ? ['…'] : [])].join(', ');
}

/** Shows a nested value without looking inside it, because it may be deep. */
function nestedExcerpt(value: unknown): string {
	if (typeof value !== 'object' || value === null) {
		return JSON.stringify(truncate(value)) ?? 'nothing';
	}
	return Array.isArray(value) ? '[…]' : '{…}';
}

const maxShownLength = 60;

/** Truncates a long string. Returns any other value unchanged. */
export function truncate(value: unknown): unknown {
	return typeof value === 'string' && value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value;
}
