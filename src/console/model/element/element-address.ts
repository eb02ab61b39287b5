/** Parsed address of an element page (docs/develop/elements.md: Pages). */
export interface ElementAddress {
	readonly elementKey: string;
	/** `null` leaves the colours to the browser. */
	readonly darkMode: boolean | null;
	/** Tenant in which the page expects its user. */
	readonly tenantKey: string | null;
	/** Instance of the page: `<resource>:<key>`, an id, or a key. */
	readonly resourceInstanceKey: string | null;
	/** True if the embedding page sends a bearer token; otherwise the cookie counts. */
	readonly byToken: boolean;
}

/** Parses an address: `/elements/{key}`, or the bare `/{key}`. */
export function readElementAddress({ pathname, search }: Pick<URL, 'pathname' | 'search'>): ElementAddress {
	const query = new URLSearchParams(search);
	const flag = (name: string) => query.get(name)?.toLowerCase();
	const darkMode = flag('darkMode');
	return {
		elementKey: decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? ''),
		darkMode: darkMode === 'true' ? true : darkMode === 'false' ? false : null,
		tenantKey: query.get('tenantKey') || null,
		resourceInstanceKey: query.get('resourceInstanceKey') || null,
		byToken: flag('elementsToken') === 'true',
	};
}
