/** Writes in a relationship and group history. Each write contains its whole request, and names objects by key. */

/** A derivation source: the role `role` on the subject of `relation`. The subject has the type `type`. */
export interface Source {
	readonly relation: string;
	readonly type: string;
	readonly role: string;
}

/** A role derivation. `blocked` is true if a role assigned on the object blocks the derivation. */
export interface Rule extends Source {
	readonly blocked: boolean;
}

/** A role in a resource body. */
export interface RoleBlock {
	readonly permissions: readonly string[];
	readonly parents: readonly string[];
	/** `null` if the body has no derivations. */
	readonly rules: readonly Rule[] | null;
}

/** A relationship. Its instances have the form `<type>:<key>`. */
export interface Tuple {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

interface RoleKeys {
	readonly type: string;
	readonly role: string;
}

/** A user's role on an instance. */
export interface Held {
	readonly user: string;
	readonly role: string;
	readonly instance: string;
}

type Kind<K extends string, Fields> = { readonly kind: K } & Fields;

/** A schema write. */
export type SchemaWrite =
	| Kind<
			'create-resource',
			{
				readonly type: string;
				readonly actions: readonly string[];
				readonly roles: Readonly<Record<string, RoleBlock>>;
				readonly relations: Readonly<Record<string, string>>;
			}
	  >
	| Kind<'set-actions', { readonly type: string; readonly actions: readonly string[] }>
	| Kind<'delete-resource', { readonly type: string }>
	| Kind<'create-role', RoleKeys & Pick<RoleBlock, 'permissions' | 'parents'>>
	| Kind<'delete-role', RoleKeys>
	| Kind<'grant' | 'revoke', RoleKeys & { readonly action: string }>
	| Kind<'extend' | 'unextend', RoleKeys & { readonly parent: string }>
	| Kind<'create-relation', { readonly type: string; readonly relation: string; readonly subject: string }>
	| Kind<'delete-relation', { readonly type: string; readonly relation: string }>
	| Kind<'derive' | 'underive', RoleKeys & { readonly rule: Rule }>
	| Kind<'derive-only', RoleKeys & { readonly rules: readonly Rule[]; readonly blocked: boolean }>
	| Kind<'block', RoleKeys & { readonly blocked: boolean }>;

/** A fact write. */
export type FactWrite =
	| Kind<'create-user' | 'delete-user', { readonly user: string }>
	| Kind<'create-tenant' | 'delete-tenant', { readonly tenant: string }>
	| Kind<'create-instance', { readonly instance: string; readonly tenant: string }>
	| Kind<'delete-instance', { readonly instance: string }>
	| Kind<'assign', Held & { readonly tenant: string | undefined }>
	| Kind<'unassign', Held>
	| Kind<'relate', Tuple & { readonly tenant: string | undefined }>
	| Kind<'unrelate', Tuple>
	| Kind<'relate-many', { readonly tuples: readonly Tuple[]; readonly tenant: string | undefined }>
	| Kind<'unrelate-many', { readonly tuples: readonly Tuple[] }>;

/** A groups API call. Groups have the form `<type>:<key>`. */
export type GroupWrite =
	| Kind<'create-group', { readonly group: string; readonly tenant: string }>
	| Kind<'delete-group', { readonly group: string }>
	| Kind<'add-member', { readonly group: string; readonly user: string; readonly tenant: string }>
	| Kind<'remove-member', { readonly group: string; readonly user: string; readonly tenant: string | undefined }>
	| Kind<'nest' | 'release', { readonly group: string; readonly child: string }>
	| Kind<
			'give' | 'take',
			{ readonly group: string; readonly role: string; readonly instance: string; readonly tenant: string }
	  >;

export type Write = SchemaWrite | FactWrite | GroupWrite;

export function isFactWrite(entry: Write): entry is FactWrite {
	return factKinds.has(entry.kind);
}

export function isGroupWrite(entry: Write): entry is GroupWrite {
	return groupKinds.has(entry.kind);
}

const factKinds: ReadonlySet<string> = new Set<FactWrite['kind']>([
	'create-user',
	'delete-user',
	'create-tenant',
	'delete-tenant',
	'create-instance',
	'delete-instance',
	'assign',
	'unassign',
	'relate',
	'unrelate',
	'relate-many',
	'unrelate-many',
]);
const groupKinds: ReadonlySet<string> = new Set<GroupWrite['kind']>([
	'create-group',
	'delete-group',
	'add-member',
	'remove-member',
	'nest',
	'release',
	'give',
	'take',
]);

/** Formats a write as a single line. */
export function writtenLine({ kind, ...fields }: Write): string {
	return `${kind} ${JSON.stringify(fields)}`;
}
