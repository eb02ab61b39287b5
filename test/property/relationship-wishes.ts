import fc from 'fast-check';
import type { RelationshipBooks } from './relationship-books.js';
import type { RoleBlock, Rule, Tuple, Write } from './relationship-writes.js';

/** Random wishes for relationship and group writes, and their translation to writes. */

/**
 * Keys in histories. There are only a few, so histories use the same objects again. `constructor` is an ordinary key.
 */
export const universe = {
	users: ['ann', 'auth0|bob', 'constructor'],
	tenants: ['acme', 'toString', 'default'],
	types: ['folder', 'document', 'group', 'constructor'],
	instances: ['a', 'b-1', 'constructor'],
	roles: ['viewer', 'editor', 'member', 'constructor'],
	/** The groups API uses the last two keys for its own relations. */
	relations: ['parent', 'owner-2', 'constructor', 'member_group', 'viewer_group'],
	actions: ['read', 'write'],
} as const;

/** Draws a value with weights. */
function likely<T>(...weighted: readonly (readonly [number, T])[]): fc.Arbitrary<T> {
	return fc.oneof(...weighted.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

const user = fc.constantFrom<string[]>(...universe.users);
const tenant = likely([8, 'acme'], [2, 'toString'], [1, 'default']);
const maybeTenant = fc.option(tenant, { nil: undefined, freq: 3 });
const type = likely([4, 'folder'], [4, 'document'], [4, 'group'], [1, 'constructor']);
const key = likely([4, 'a'], [4, 'b-1'], [3, 'constructor']);
const role = likely([5, 'viewer'], [4, 'editor'], [3, 'member'], [1, 'constructor']);
const action = fc.constantFrom<string[]>(...universe.actions);
const actions = fc.subarray([...universe.actions]);
const blocked = likely([3, false], [1, true]);
const instanceName = (of: fc.Arbitrary<string>) => fc.tuple(of, key).map(([first, second]) => `${first}:${second}`);
const instance = instanceName(type);
const group = instanceName(likely([8, 'group'], [1, 'folder'], [1, 'constructor']));

/** A relation between two types, usually a relation from the `opening`. */
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
			[3, { subject: 'group', relation: 'viewer_group', type: 'folder' }],
		),
	},
	{
		weight: 1,
		arbitrary: fc.record({ subject: type, relation: fc.constantFrom<string[]>(...universe.relations), type }),
	},
);
const tuple: fc.Arbitrary<Tuple> = fc.tuple(way, key, key).map(([{ subject, relation, type: object }, from, to]) => ({
	subject: `${subject}:${from}`,
	relation,
	object: `${object}:${to}`,
}));
/** Derivations of `member` on groups, and of any role on other types. Source roles on groups are also `member`. */
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

/** A write, or a request to repeat or undo an earlier write. `back` is the number of writes after the earlier write. */
type Drawn = Write | { readonly kind: 'again' | 'undo'; readonly back: number };

/**
 * Possible writes. Only one of them is sent: the first write or, if `apt`, the first write that would be accepted and
 * change something. With `apt`, random draws from a few keys often find existing objects.
 */
export interface Wish {
	readonly apt: boolean;
	readonly choices: readonly Drawn[];
}

function wishes(...weighted: readonly (readonly [number, fc.Arbitrary<Drawn>])[]): fc.Arbitrary<Wish> {
	const apt = likely([5, true], [1, false]);
	return fc.oneof(
		...weighted.map(([weight, one]) => {
			const choices = fc.array(one, { minLength: 12, maxLength: 12, size: 'max' });
			// A smaller wish usually means the same write, so histories shrink faster if they only drop wishes.
			return { weight, arbitrary: fc.noShrink(fc.record({ apt, choices })) };
		}),
	);
}

/** Any schema write. */
const schemaWrite = wishes(
	[3, fc.constantFrom(folder, document, folder, document, resource('constructor', {}, {}), resource('group', {}, {}))],
	[1, fc.record({ kind: kinds('set-actions'), type, actions })],
	[1, fc.record({ kind: kinds('delete-resource'), type: fc.constantFrom(...universe.types) })],
	[2, fc.record({ kind: kinds('create-role'), type, role, permissions: actions, parents: fc.subarray(['viewer']) })],
	[4, fc.record({ kind: kinds('delete-role'), type, role })],
	[3, fc.record({ kind: kinds('grant', 'grant', 'revoke'), type, role, action })],
	[2, fc.record({ kind: kinds('extend', 'extend', 'unextend'), type, role, parent: role })],
	[3, way.map((made) => ({ kind: 'create-relation', ...made }) as const)],
	[1, way.map(({ subject: _, ...gone }) => ({ kind: 'delete-relation', ...gone }) as const)],
	[10, fc.tuple(kinds('derive', 'derive', 'underive'), derivation).map(([kind, made]) => ({ kind, ...made }))],
	[2, fc.record({ kind: kinds('derive-only'), type, role, rules, blocked })],
	[2, fc.record({ kind: kinds('block'), type, role, blocked: fc.boolean() })],
);

/** Any fact write. */
const factWrite = wishes(
	[3, fc.record({ kind: kinds('create-user', 'create-user', 'create-user', 'delete-user'), user })],
	[1, fc.record({ kind: kinds('create-tenant'), tenant })],
	[1, fc.record({ kind: kinds('delete-tenant'), tenant: likely([1, 'acme'], [4, 'toString'], [2, 'default']) })],
	[4, fc.record({ kind: kinds('create-instance'), instance, tenant })],
	[1, fc.record({ kind: kinds('delete-instance'), instance })],
	[6, fc.record({ kind: kinds('assign'), user, role, instance, tenant: maybeTenant })],
	[3, fc.record({ kind: kinds('unassign'), user, role, instance })],
	[7, fc.tuple(tuple, maybeTenant).map(([made, where]) => ({ kind: 'relate', ...made, tenant: where }) as const)],
	[3, tuple.map((gone) => ({ kind: 'unrelate', ...gone }) as const)],
	[
		3,
		fc.record({
			kind: kinds('relate-many'),
			tuples: fc.array(tuple, { minLength: 1, maxLength: 3 }),
			tenant: maybeTenant,
		}),
	],
	[1, fc.record({ kind: kinds('unrelate-many'), tuples: fc.array(tuple, { minLength: 1, maxLength: 5 }) })],
);

/** Any groups API call. */
const groupWrite = wishes(
	[4, fc.record({ kind: kinds('create-group'), group, tenant })],
	[2, fc.record({ kind: kinds('delete-group'), group })],
	[5, fc.record({ kind: kinds('add-member'), group, user, tenant })],
	[2, fc.record({ kind: kinds('remove-member'), group, user, tenant: maybeTenant })],
	[5, fc.record({ kind: kinds('nest', 'nest', 'release'), group, child: group })],
	[6, fc.record({ kind: kinds('give', 'give', 'take'), group, role, instance, tenant })],
);

/** The beginning of each history, so histories do not spend their random writes on required objects. */
export const opening: readonly Write[] = [
	{ kind: 'create-tenant', tenant: 'acme' },
	{ kind: 'create-tenant', tenant: 'toString' },
	{ kind: 'create-user', user: 'ann' },
	{ kind: 'create-user', user: 'auth0|bob' },
	folder,
	document,
	{ kind: 'create-instance', instance: 'folder:a', tenant: 'acme' },
	{ kind: 'relate', subject: 'folder:a', relation: 'parent', object: 'folder:b-1', tenant: 'acme' },
	{ kind: 'relate', subject: 'folder:b-1', relation: 'parent', object: 'document:a', tenant: 'acme' },
	{ kind: 'create-group', group: 'group:a', tenant: 'acme' },
	{ kind: 'create-group', group: 'group:b-1', tenant: 'acme' },
	{ kind: 'create-relation', type: 'folder', relation: 'owner-2', subject: 'group' },
	{
		kind: 'derive',
		type: 'folder',
		role: 'editor',
		rule: { relation: 'owner-2', type: 'group', role: 'member', blocked: false },
	},
	{ kind: 'add-member', group: 'group:a', user: 'ann', tenant: 'acme' },
	{ kind: 'give', group: 'group:a', role: 'viewer', instance: 'folder:a', tenant: 'acme' },
	// A later write makes the relation created here grant more than its role. Therefore, the role needs a second relation
	// for the next group.
	{ kind: 'give', group: 'group:a', role: 'editor', instance: 'document:a', tenant: 'acme' },
	{
		kind: 'derive',
		type: 'document',
		role: 'viewer',
		rule: { relation: 'editor_group', type: 'group', role: 'member', blocked: false },
	},
	{ kind: 'give', group: 'group:b-1', role: 'editor', instance: 'document:a', tenant: 'acme' },
	{ kind: 'nest', group: 'group:a', child: 'group:b-1' },
	{ kind: 'add-member', group: 'group:b-1', user: 'auth0|bob', tenant: 'acme' },
	{ kind: 'assign', user: 'auth0|bob', role: 'editor', instance: 'folder:b-1', tenant: undefined },
	{ kind: 'create-role', type: 'document', role: 'constructor', ...plain },
];

/** Repeats or undoes an earlier write. */
const anew = wishes([1, fc.record({ kind: kinds('undo', 'again'), back: fc.nat({ max: 60 }) })]);

const length = { minLength: 1, maxLength: 17, size: 'max' } as const;
/**
 * Wishes between two comparisons. Most are for fact writes, because each comparison after a schema write waits for a
 * compilation.
 */
export const chapter: fc.Arbitrary<readonly Wish[]> = fc.oneof(
	{ weight: 4, arbitrary: fc.array(fc.oneof(anew, factWrite, factWrite, factWrite), length) },
	{ weight: 2, arbitrary: fc.array(fc.oneof(anew, factWrite, groupWrite, groupWrite), length) },
	{ weight: 3, arbitrary: fc.array(fc.oneof(anew, factWrite, groupWrite, schemaWrite, schemaWrite), length) },
);

/** Returns the write for a wish. The books already include the earlier writes in `before`. */
export function fulfilled({ apt, choices }: Wish, books: RelationshipBooks, before: readonly Write[]): Write {
	const meant = choices.map((choice) => meaning(choice, before));
	const entry = (apt ? meant.find((one) => books.wouldChange(one)) : undefined) ?? meant[0];
	if (entry === undefined) throw new Error('the wish has no choices');
	return entry;
}

function meaning(choice: Drawn, writes: readonly Write[]): Write {
	if (!('back' in choice)) return choice;
	const earlier = writes[writes.length - 1 - (choice.back % writes.length)];
	if (earlier === undefined) throw new Error('there is no earlier write');
	return choice.kind === 'again' ? earlier : undoing(earlier);
}

/** Inverse of each creation, except of tenants and resources: their deletion would leave almost nothing to compare. */
const taking: ReadonlyMap<string, Write['kind']> = new Map<Write['kind'], Write['kind']>([
	['create-role', 'delete-role'],
	['create-relation', 'delete-relation'],
	['grant', 'revoke'],
	['extend', 'unextend'],
	['derive', 'underive'],
	['create-user', 'delete-user'],
	['create-instance', 'delete-instance'],
	['assign', 'unassign'],
	['relate', 'unrelate'],
	['relate-many', 'unrelate-many'],
	['create-group', 'delete-group'],
	['add-member', 'remove-member'],
	['nest', 'release'],
	['give', 'take'],
]);

/** Returns the inverse of a creation. Returns all other writes unchanged. */
function undoing(entry: Write): Write {
	// The inverse uses a subset of the creation's fields; extra fields are not sent.
	return { ...entry, kind: taking.get(entry.kind) ?? entry.kind } as Write;
}
