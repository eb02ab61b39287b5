/** What the directory shows. */
export const directoryTabs = ['users', 'tenants', 'groups', 'instances'] as const;

/** A part of the directory. */
export type DirectoryTab = (typeof directoryTabs)[number];

/** Where in the directory a page is. */
export interface DirectoryPlace {
	readonly tab: DirectoryTab;
	/** The object that is shown: the key, for groups and instances `<resource>:<key>`, or an id; `null` for a list. */
	readonly key: string | null;
}

/** The rest of the path of the directory, for a list or for one object. */
export function directoryPath(tab: DirectoryTab, key?: string): string {
	return key === undefined ? `directory/${tab}` : `directory/${tab}/${encodeURIComponent(key)}`;
}

/** Where a path of the directory leads; the users for one that leads nowhere. */
export function readDirectoryPath(path: string): DirectoryPlace {
	const [tab = '', key = ''] = path.split('/directory/', 2)[1]?.split('/') ?? [];
	const known = directoryTabs.find((one) => one === tab);
	if (known === undefined) return { tab: 'users', key: null };
	return { tab: known, key: key === '' ? null : decoded(key) };
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
