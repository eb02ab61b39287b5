import { useLocation } from 'preact-iso';

/** Screen state stored in the address. */
export interface Search {
	/** Returns a parameter's value, or an empty string if the parameter is absent. */
	get(name: string): string;
	/** Changes parameters. An empty value removes the parameter. Adds a history entry unless `replace` is set. */
	set(changes: Changes, options?: { readonly replace?: boolean }): void;
	/** Returns the props for a field with a parameter's value. A new value also applies the `further` changes. */
	filter(name: string, further?: Changes, options?: { readonly replace?: boolean }): FilterProps;
}

type Changes = Readonly<Record<string, string>>;

/** Props of a field. */
interface FilterProps {
	readonly value: string;
	readonly onValue: (value: string) => void;
}

/** Uses the query in the URL as the screen's state, so a link reproduces the screen. */
export function useSearch(): Search {
	const { url, route } = useLocation();
	// The fragment is a position on the page, such as a line of code. It is not part of the parameters.
	const [path = '', query = ''] = (url.split('#')[0] ?? '').split('?');
	const parameters = new URLSearchParams(query);
	const get = (name: string) => parameters.get(name) ?? '';
	const set: Search['set'] = (changes, { replace = false } = {}) => {
		const next = new URLSearchParams(location.search);
		for (const [name, value] of Object.entries(changes)) {
			if (value === '') next.delete(name);
			else next.set(name, value);
		}
		const text = next.toString();
		route(text === '' ? path : `${path}?${text}`, replace);
	};
	return {
		get,
		set,
		filter: (name, further = {}, { replace = true } = {}) => ({
			value: get(name),
			onValue: (value) => set({ [name]: value, ...further }, { replace }),
		}),
	};
}
