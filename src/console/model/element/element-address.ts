/** Parsed URL of an element page (docs/develop/elements.md: Pages). */
export interface ElementAddress {
	readonly elementKey: string;
	/** True for dark colors, false for light colors. If `null`, the browser chooses the colors. */
	readonly darkMode: boolean | null;
	/** Tenant to which the page's user should be signed in. */
	readonly tenantKey: string | null;
	/** Instance shown by the page: `<resource>:<key>`, an id, or a key. */
	readonly resourceInstanceKey: string | null;
	/** True if the embedding page sends a bearer token. If false, the cookie identifies the session. */
	readonly byToken: boolean;
}

/** Parses the URL `/elements/{key}`, or the short URL `/{key}`. */
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
