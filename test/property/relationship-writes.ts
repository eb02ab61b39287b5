import fc from 'fast-check';

/** The writes of a history of relationships and groups. Each says all that its request says, by keys. */

/** What a role is derived from: `role` of `type`, on the subject of a relation. */
export interface Source {
	readonly relation: string;
	readonly type: string;
	readonly role: string;
}

/** A derivation of a role: `blocked` when a role assigned on the object stops it. */
export interface Rule extends Source {
	readonly blocked: boolean;
}

/** A role in the body of a resource. */
export interface RoleBlock {
	readonly permissions: readonly string[];
	readonly parents: readonly string[];
	/** `null` where the body says nothing of derivations. */
	readonly rules: readonly Rule[] | null;
}

/** A relationship; instances are `<type>:<key>`. */
export interface Tuple {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

/** A role of a type. */
interface RoleKeys {
	readonly type: string;
	readonly role: string;
}

/** A user, and a role on an instance. */
export interface Held {
	readonly user: string;
	readonly role: string;
	readonly instance: string;
}

type Kind<K extends string, Fields> = { readonly kind: K } & Fields;

/** What changes what can exist. */
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

/** What changes what exists. */
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

/** A call of the groups API. Groups are `<type>:<key>`. */
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

/** One write of a history. */
export type Write = SchemaWrite | FactWrite | GroupWrite;

/** Whether a write is one of facts. */
export function isFactWrite(entry: Write): entry is FactWrite {
	return factKinds.has(entry.kind);
}

/** Whether a write is a call of the groups API. */
export function isGroupWrite(entry: Write): entry is GroupWrite {
	return groupKinds.has(entry.kind);
}

const factKinds: ReadonlySet<string> = new Set<FactWrite['kind']>([
	...(['create-user', 'delete-user', 'create-tenant', 'delete-tenant', 'create-instance', 'delete-instance'] as const),
	...(['assign', 'unassign', 'relate', 'unrelate', 'relate-many', 'unrelate-many'] as const),
]);
const groupKinds: ReadonlySet<string> = new Set<GroupWrite['kind']>([
	...(['create-group', 'delete-group', 'add-member', 'remove-member', 'nest', 'release', 'give', 'take'] as const),
]);

/** The keys that histories use: few, so that histories meet the same objects again. `constructor` is one like others. */
export const universe = {
	users: ['ann', 'auth0|bob', 'constructor'],
	tenants: ['acme', 'toString', 'default'],
	types: ['folder', 'document', 'group', 'constructor'],
	instances: ['a', 'b-1', 'constructor'],
	roles: ['viewer', 'editor', 'member', 'constructor'],
	/** The last two are what the groups API calls its own. */
	relations: ['parent', 'owner-2', 'constructor', 'member_group', 'viewer_group'],
	actions: ['read', 'write'],
} as const;

/** One of these, a number of times as likely as others. */
function likely<T>(...weighted: readonly (readonly [number, T])[]): fc.Arbitrary<T> {
	return fc.oneof(...weighted.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

const user = fc.constantFrom<string[]>(...universe.users);
const tenant = likely([8, 'acme'], [2, 'toString'], [1, 'default']);
const maybeTenant = fc.option(tenant, { nil: undefined, freq: 3 });
const type = likely([4, 'folder'], [4, 'document'], [4, 'group'], [1, 'constructor']);
const key = likely([4, 'a'], [4, 'b-1'], [1, 'constructor']);
const role = likely([5, 'viewer'], [4, 'editor'], [3, 'member'], [1, 'constructor']);
const action = fc.constantFrom<string[]>(...universe.actions);
const actions = fc.subarray([...universe.actions]);
const blocked = likely([3, false], [1, true]);
const nameOf = (of: fc.Arbitrary<string>) => fc.tuple(of, key).map(([first, second]) => `${first}:${second}`);
const instance = nameOf(type);
const group = nameOf(likely([8, 'group'], [1, 'folder'], [1, 'constructor']));

/** How instances of one type are related to those of another: mostly in a way that the beginning made. */
const way = fc.oneof(
	{
		weight: 8,
		arbitrary: likely(
			[6, { subject: 'folder', relation: 'parent', type: 'folder' }],
			[5, { subject: 'folder', relation: 'parent', type: 'document' }],
			[3, { subject: 'group', relation: 'owner-2', type: 'folder' }],
			[1, { subject: 'group', relation: 'owner-2', type: 'document' }],
			[3, { subject: 'group', relation: 'parent', type: 'group' }],
			[1, { subject: 'document', relation: 'constructor', type: 'folder' }],
			[1, { subject: 'group', relation: 'member_group', type: 'group' }],
			[2, { subject: 'group', relation: 'viewer_group', type: 'folder' }],
		),
	},
	{
		weight: 1,
		arbitrary: fc.record({ subject: type, relation: fc.constantFrom<string[]>(...universe.relations), type }),
	},
);
const tuple: fc.Arbitrary<Tuple> = fc.tuple(way, key, key).map(([{ subject, relation, type: object }, from, to]) => ({
	...{ subject: `${subject}:${from}`, relation, object: `${object}:${to}` },
}));
/** Members of groups derive, viewers and editors of the others. */
const derivation = fc
	.tuple(way, role, role, blocked)
	.map(([{ subject, relation, type: derived }, to, from, stops]) => ({
		type: derived,
		role: derived === 'group' ? 'member' : to,
		rule: { relation, type: subject, role: subject === 'group' ? 'member' : from, blocked: stops },
	}));
const rules = fc.array(derivation, { minLength: 1, maxLength: 3 }).map((all) => all.map(({ rule }) => rule));

const plain: Pick<RoleBlock, 'permissions' | 'parents'> = { permissions: [], parents: [] };
const byFolder = (held: string, stopped = false): readonly Rule[] => [
	{ relation: 'parent', type: 'folder', role: held, blocked: stopped },
];
const hierarchy: Readonly<Record<string, RoleBlock>> = {
	viewer: { permissions: ['read'], parents: [], rules: byFolder('viewer') },
	editor: { permissions: ['write'], parents: ['viewer'], rules: byFolder('editor', true) },
};
const resource = (of: string, roles: typeof hierarchy, relations: Readonly<Record<string, string>>) =>
	({ kind: 'create-resource', type: of, actions: [...universe.actions], roles, relations }) as const;
const folder = resource('folder', hierarchy, { parent: 'folder' });
const document = resource('document', hierarchy, { parent: 'folder' });

const kinds = <K extends string>(...all: K[]) => fc.constantFrom(...all);
const weighted = <T>(...all: readonly (readonly [number, fc.Arbitrary<T>])[]) =>
	fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Any change of what can exist. */
export const schemaWrite: fc.Arbitrary<SchemaWrite> = weighted<SchemaWrite>(
	[3, fc.constantFrom(folder, document, folder, document, resource('constructor', {}, {}), resource('group', {}, {}))],
	[1, fc.record({ kind: kinds('set-actions'), type, actions })],
	[1, fc.record({ kind: kinds('delete-resource'), type })],
	[2, fc.record({ kind: kinds('create-role'), type, role, permissions: actions, parents: fc.subarray(['viewer']) })],
	[2, fc.record({ kind: kinds('delete-role'), type, role })],
	[3, fc.record({ kind: kinds('grant', 'grant', 'revoke'), type, role, action })],
	[2, fc.record({ kind: kinds('extend', 'extend', 'unextend'), type, role, parent: role })],
	[3, way.map((made) => ({ kind: 'create-relation', ...made }) as const)],
	[1, way.map(({ subject: _, ...gone }) => ({ kind: 'delete-relation', ...gone }) as const)],
	[6, fc.tuple(kinds('derive', 'derive', 'underive'), derivation).map(([kind, made]) => ({ kind, ...made }))],
	[2, fc.record({ kind: kinds('derive-only'), type, role, rules, blocked })],
	[2, fc.record({ kind: kinds('block'), type, role, blocked: fc.boolean() })],
);

/** Any change of what exists. */
export const factWrite: fc.Arbitrary<FactWrite> = weighted<FactWrite>(
	[2, fc.record({ kind: kinds('create-user', 'create-user', 'delete-user'), user })],
	[1, fc.record({ kind: kinds('create-tenant', 'create-tenant', 'create-tenant', 'delete-tenant'), tenant })],
	[4, fc.record({ kind: kinds('create-instance'), instance, tenant })],
	[2, fc.record({ kind: kinds('delete-instance'), instance })],
	[6, fc.record({ kind: kinds('assign'), user, role, instance, tenant: maybeTenant })],
	[3, fc.record({ kind: kinds('unassign'), user, role, instance })],
	[7, fc.tuple(tuple, maybeTenant).map(([made, where]) => ({ kind: 'relate', ...made, tenant: where }) as const)],
	[3, tuple.map((gone) => ({ kind: 'unrelate', ...gone }) as const)],
	[
		3,
		fc.record({
			...{ kind: kinds('relate-many'), tuples: fc.array(tuple, { minLength: 1, maxLength: 3 }), tenant: maybeTenant },
		}),
	],
	[1, fc.record({ kind: kinds('unrelate-many'), tuples: fc.array(tuple, { minLength: 1, maxLength: 5 }) })],
);

/** Any call of the groups API. */
export const groupWrite: fc.Arbitrary<GroupWrite> = weighted<GroupWrite>(
	[4, fc.record({ kind: kinds('create-group'), group, tenant })],
	[2, fc.record({ kind: kinds('delete-group'), group })],
	[5, fc.record({ kind: kinds('add-member'), group, user, tenant })],
	[2, fc.record({ kind: kinds('remove-member'), group, user, tenant: maybeTenant })],
	[5, fc.record({ kind: kinds('nest', 'nest', 'release'), group, child: group })],
	[6, fc.record({ kind: kinds('give', 'give', 'take'), group, role, instance, tenant })],
);

/** A beginning that all histories share, so that they do not spend themselves on creating what they need. */
export const opening: readonly Write[] = [
	{ kind: 'create-tenant', tenant: 'acme' },
	{ kind: 'create-user', user: 'ann' },
	{ kind: 'create-user', user: 'auth0|bob' },
	folder,
	document,
	{ kind: 'create-instance', instance: 'folder:a', tenant: 'acme' },
	{ kind: 'relate', subject: 'folder:a', relation: 'parent', object: 'folder:b-1', tenant: 'acme' },
	{ kind: 'relate', subject: 'folder:b-1', relation: 'parent', object: 'document:a', tenant: 'acme' },
	{ kind: 'create-group', group: 'group:a', tenant: 'acme' },
	{ kind: 'create-relation', type: 'folder', relation: 'owner-2', subject: 'group' },
	{
		...{ kind: 'derive', type: 'folder', role: 'editor' },
		rule: { relation: 'owner-2', type: 'group', role: 'member', blocked: false },
	},
	{ kind: 'add-member', group: 'group:a', user: 'ann', tenant: 'acme' },
	{ kind: 'give', group: 'group:a', role: 'viewer', instance: 'folder:a', tenant: 'acme' },
	{ kind: 'assign', user: 'auth0|bob', role: 'editor', instance: 'folder:b-1', tenant: undefined },
	{ kind: 'create-role', type: 'document', role: 'constructor', ...plain },
];

/** A write on one line. */
export function lineOf({ kind, ...fields }: Write): string {
	return `${kind} ${JSON.stringify(fields)}`;
}
