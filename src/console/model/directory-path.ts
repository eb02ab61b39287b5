export const directoryTabs = ['users', 'tenants', 'groups', 'instances'] as const;

export type DirectoryTab = (typeof directoryTabs)[number];

/** Location in the directory. */
export interface DirectoryPlace {
	readonly tab: DirectoryTab;
	/** The open object: a key (`<resource>:<key>` for groups and instances) or an id. `null` if a list is open. */
	readonly key: string | null;
}

/** Returns the directory path for a list or an object. */
export function directoryPath(tab: DirectoryTab, key?: string): string {
	return key === undefined ? `directory/${tab}` : `directory/${tab}/${encodeURIComponent(key)}`;
}

/** Parses a directory path. Returns the users tab if the path is invalid. */
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
