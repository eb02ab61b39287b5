/** What messages say of values that somebody wrote: they are unknown, and may be long or deep. */

/** Whether it is what JSON calls an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value for messages: its JSON, abridged. */
export function shown(value: unknown): string {
	if (Array.isArray(value)) {
		return `[${abridged(value.map(shownInside))}]`;
	}
	if (isObject(value)) {
		return `{${abridged(Object.entries(value).map(([name, member]) => `${shownInside(name)}: ${shownInside(member)}`))}}`;
	}
	return shownInside(value);
}

const mostShown = 3;

function abridged(parts: readonly string[]): string {
	return [...parts.slice(0, mostShown), ...(parts.length > mostShown ? ['…'] : [])].join(', ');
}

/** What is inside of an array or object is not looked into: it may be deep. */
function shownInside(value: unknown): string {
	if (typeof value !== 'object' || value === null) {
		return JSON.stringify(cut(value)) ?? 'nothing';
	}
	return Array.isArray(value) ? '[…]' : '{…}';
}

const longestShown = 60;

/** Texts of people may be long; a message need not repeat them. */
export function cut(value: unknown): unknown {
	return typeof value === 'string' && value.length > longestShown ? `${value.slice(0, longestShown)}…` : value;
}
