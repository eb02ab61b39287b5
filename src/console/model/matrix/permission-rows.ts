/** A user's permissions on one object, as a decision point lists them. */
export interface ObjectPermissions {
	readonly tenant: { readonly key: string };
	/** Instance; absent for a tenant. */
	readonly resource?: { readonly type: string; readonly key: string } | undefined;
	readonly permissions: readonly string[];
	readonly roles: readonly string[];
}

/** A user's permissions in a tenant or on an instance. */
export interface PermissionRow {
	/** Instance, as `<type>:<key>`; `null` for the tenant itself. */
	readonly instance: string | null;
	readonly tenant: string;
	readonly roles: readonly string[];
	readonly permissions: readonly string[];
}

interface PermissionPage {
	readonly rows: readonly PermissionRow[];
	readonly total: number;
	readonly pageCount: number;
}

/**
 * Returns a page with a user's permissions. Pages are numbered from 1. Every word in `text` must occur in a row's
 * instance, tenant, roles or permissions. Tenants come first.
 */
export function permissionPage(
	listed: Readonly<Record<string, ObjectPermissions>>,
	{ text, page, perPage }: { readonly text: string; readonly page: number; readonly perPage: number },
): PermissionPage {
	const words = text.toLowerCase().split(/\s+/).filter(Boolean);
	const found = Object.values(listed)
		.map(asRow)
		.filter((row) => hasWords(row, words));
	const rows = [
		...found.filter(({ instance }) => instance === null),
		...found.filter(({ instance }) => instance !== null),
	];
	const first = (page - 1) * perPage;
	return {
		rows: rows.slice(first, first + perPage),
		total: rows.length,
		pageCount: Math.max(1, Math.ceil(rows.length / perPage)),
	};
}

function asRow({ tenant, resource, roles, permissions }: ObjectPermissions): PermissionRow {
	const instance = resource === undefined ? null : `${resource.type}:${resource.key}`;
	return { instance, tenant: tenant.key, roles, permissions };
}

function hasWords({ instance, tenant, roles, permissions }: PermissionRow, words: readonly string[]): boolean {
	if (words.length === 0) return true;
	const all = [instance ?? '', tenant, ...roles, ...permissions].join(' ').toLowerCase();
	return words.every((word) => all.includes(word));
}
