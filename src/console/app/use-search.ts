import { useLocation } from 'preact-iso';

/** The part of a screen's state that is in its address. */
export interface Search {
	/** A parameter; empty where the address does not have it. */
	get(name: string): string;
	/** Changes parameters; an empty value takes one away. The address before is kept in the history, unless `replace`. */
	set(changes: Readonly<Record<string, string>>, options?: { readonly replace?: boolean }): void;
}

/** The query of the address as the state of a screen, so that a link shows what the screen shows. */
export function useSearch(): Search {
	const { url, route } = useLocation();
	// What follows a `#` names a place on the page, such as a line of code, and is part of no parameter.
	const [path = '', query = ''] = (url.split('#')[0] ?? '').split('?');
	const parameters = new URLSearchParams(query);
	return {
		get: (name) => parameters.get(name) ?? '',
		set: (changes, { replace = false } = {}) => {
			const next = new URLSearchParams(location.search);
			for (const [name, value] of Object.entries(changes)) {
				if (value === '') next.delete(name);
				else next.set(name, value);
			}
			const text = next.toString();
			route(text === '' ? path : `${path}?${text}`, replace);
		},
	};
}
