import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Model } from '../../compiler/index.js';
import type { Attributes } from '../../compiler/model.js';

/**
 * The books of an environment: its expected state. They determine whether a write must be accepted, and the resulting
 * state. They share no code with the store.
 */

/** A write in a history. Keys come from small sets, so histories use the same objects again. */
export type Write =
	| { readonly kind: 'create-user'; readonly user: string; readonly role?: string; readonly tenant: string }
	| { readonly kind: 'rename-user'; readonly user: string; readonly name: string }
	| { readonly kind: 'describe-user'; readonly user: string; readonly attributes: Attributes }
	| { readonly kind: 'delete-user'; readonly user: string }
	| { readonly kind: 'create-tenant'; readonly tenant: string }
	| { readonly kind: 'set-tenant'; readonly tenant: string; readonly attributes: Record<string, boolean | number> }
	| { readonly kind: 'delete-tenant'; readonly tenant: string }
	| { readonly kind: 'create-resource'; readonly resource: string; readonly actions: readonly string[] }
	| { readonly kind: 'set-actions'; readonly resource: string; readonly actions: readonly string[] }
	| { readonly kind: 'delete-resource'; readonly resource: string }
	| { readonly kind: 'create-role'; readonly role: string; readonly parents: readonly string[] }
	| { readonly kind: 'grant' | 'revoke'; readonly role: string; readonly resource: string; readonly action: string }
	| { readonly kind: 'delete-role'; readonly role: string }
	| {
			readonly kind: 'assign';
			readonly user: string;
			readonly role: string;
			readonly tenant: string;
			/** A value in `ends`. */
			readonly expires_at?: string;
	  }
	| { readonly kind: 'unassign'; readonly user: string; readonly role: string; readonly tenant: string };

/** Role expiry times. All are in the future; the questions set the decision time. */
export const ends = ['2999-01-01T00:00:00.000Z', '2999-01-02T00:00:00.001Z', '2999-01-03T12:00:00.000Z'] as const;

/** Keys in histories. `constructor` is an ordinary key. */
export const universe = {
	users: ['ann', 'auth0|bob', 'constructor'],
	tenants: ['default', 'acme', 'toString'],
	roles: ['viewer', 'editor', 'admin'],
	resources: ['document', 'Document', 'package'],
	actions: ['read', 'write', 'default'],
} as const;

const user = fc.constantFrom(...universe.users);
const tenant = fc.constantFrom(...universe.tenants);
const role = fc.constantFrom(...universe.roles);
const resource = fc.constantFrom(...universe.resources);
const action = fc.constantFrom(...universe.actions);
const actions = fc.subarray([...universe.actions]);
const kind = <K extends string>(...kinds: K[]) => fc.constantFrom(...kinds);

/** Any write. */
export const write: fc.Arbitrary<Write> = fc.oneof(
	{ weight: 3, arbitrary: fc.record({ kind: kind('create-user'), user, tenant }) },
	{ weight: 1, arbitrary: fc.record({ kind: kind('create-user'), user, tenant, role }) },
	{ weight: 1, arbitrary: fc.record({ kind: kind('rename-user'), user, name: kind('A', 'B') }) },
	{
		weight: 2,
		arbitrary: fc.record({
			kind: kind('describe-user'),
			user,
			// A name in the attributes overrides the record's name; tabs and line ends are ordinary text.
			attributes: fc.constantFrom<Attributes[]>({}, { level: 1.5 }, { first_name: 'C\t"\n', tags: [{ a: null }] }),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ kind: kind('delete-user'), user }) },
	{ weight: 2, arbitrary: fc.record({ kind: kind('create-tenant'), tenant }) },
	{
		weight: 1,
		arbitrary: fc.record({
			kind: kind('set-tenant'),
			tenant,
			attributes: fc.constantFrom({ paid: true }, { seats: 3, paid: false }, {}),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ kind: kind('delete-tenant'), tenant }) },
	{ weight: 2, arbitrary: fc.record({ kind: kind('create-resource'), resource, actions }) },
	{ weight: 1, arbitrary: fc.record({ kind: kind('set-actions'), resource, actions }) },
	{ weight: 1, arbitrary: fc.record({ kind: kind('delete-resource'), resource }) },
	{
		weight: 3,
		arbitrary: fc.record({
			kind: kind('create-role'),
			role,
			parents: fc.subarray([...universe.roles], { maxLength: 1 }),
		}),
	},
	{ weight: 5, arbitrary: fc.record({ kind: kind('grant', 'grant', 'grant', 'revoke'), role, resource, action }) },
	{ weight: 1, arbitrary: fc.record({ kind: kind('delete-role'), role }) },
	{ weight: 6, arbitrary: fc.record({ kind: kind('assign', 'unassign'), user, role, tenant }) },
	{
		weight: 4,
		arbitrary: fc.record({ kind: kind('assign'), user, role, tenant, expires_at: fc.constantFrom(...ends) }),
	},
);

/** The beginning of each history, so histories do not spend their random writes on required objects. */
export const opening: readonly Write[] = [
	{ kind: 'create-tenant', tenant: 'acme' },
	{ kind: 'create-resource', resource: 'document', actions: ['read', 'write'] },
	{ kind: 'create-role', role: 'viewer', parents: [] },
	{ kind: 'create-role', role: 'editor', parents: ['viewer'] },
	{ kind: 'grant', role: 'viewer', resource: 'document', action: 'read' },
	{ kind: 'grant', role: 'editor', resource: 'document', action: 'write' },
	{ kind: 'create-user', user: 'ann', tenant: 'acme' },
	{ kind: 'create-user', user: 'auth0|bob', tenant: 'acme', role: 'editor' },
];

interface RoleBook {
	readonly parents: readonly string[];
	readonly grants: Set<string>;
}

const forGood = Number.POSITIVE_INFINITY;

export class Simulation {
	/** Users, with their first names and attributes. */
	readonly #users = new Map<string, readonly [name: string | null, attributes: Attributes]>();
	readonly #tenants = new Map<string, Record<string, boolean | number> | null>([['default', null]]);
	readonly #resources = new Map<string, Set<string>>();
	readonly #roles = new Map<string, RoleBook>();
	/** Expiry of each role assignment, keyed by `[user, role, tenant]` as JSON. */
	readonly #assignments = new Map<string, number>();

	/** Enters a write. `accepted` is true if the write must be accepted, and `changes` if it changes anything. */
	enter(entry: Write): { readonly accepted: boolean; readonly changes: boolean } {
		const refused = { accepted: false, changes: false };
		const done = { accepted: true, changes: true };
		const unchanged = { accepted: true, changes: false };
		switch (entry.kind) {
			case 'create-user': {
				const known = entry.role === undefined || (this.#roles.has(entry.role) && this.#tenants.has(entry.tenant));
				if (this.#users.has(entry.user) || !known) return refused;
				this.#users.set(entry.user, [null, {}]);
				if (entry.role !== undefined)
					this.#assignments.set(JSON.stringify([entry.user, entry.role, entry.tenant]), forGood);
				return done;
			}
			case 'rename-user':
			case 'describe-user': {
				const known = this.#users.get(entry.user);
				if (known === undefined) return refused;
				const [name, attributes] = known;
				const next =
					entry.kind === 'rename-user' ? ([entry.name, attributes] as const) : ([name, entry.attributes] as const);
				if (isDeepStrictEqual(known, next)) return unchanged;
				this.#users.set(entry.user, next);
				return done;
			}
			case 'delete-user':
				if (!this.#users.delete(entry.user)) return refused;
				this.#unassignAll(0, entry.user);
				return done;
			case 'create-tenant':
				if (this.#tenants.has(entry.tenant)) return refused;
				this.#tenants.set(entry.tenant, null);
				return done;
			case 'set-tenant':
				if (!this.#tenants.has(entry.tenant)) return refused;
				if (isDeepStrictEqual(this.#tenants.get(entry.tenant), entry.attributes)) return unchanged;
				this.#tenants.set(entry.tenant, entry.attributes);
				return done;
			case 'delete-tenant':
				if (!this.#tenants.delete(entry.tenant)) return refused;
				this.#unassignAll(2, entry.tenant);
				return done;
			case 'create-resource':
				if (this.#resources.has(entry.resource)) return refused;
				this.#resources.set(entry.resource, new Set(entry.actions));
				return done;
			case 'set-actions': {
				const actions = this.#resources.get(entry.resource);
				if (actions === undefined) return refused;
				const gone = [...actions].filter((key) => !entry.actions.includes(key));
				for (const key of gone) this.#revokeAll(`${entry.resource}:${key}`);
				this.#resources.set(entry.resource, new Set(entry.actions));
				return isDeepStrictEqual(actions, new Set(entry.actions)) ? unchanged : done;
			}
			case 'delete-resource': {
				const actions = this.#resources.get(entry.resource);
				if (actions === undefined) return refused;
				for (const key of actions) this.#revokeAll(`${entry.resource}:${key}`);
				this.#resources.delete(entry.resource);
				return done;
			}
			case 'create-role':
				if (this.#roles.has(entry.role) || entry.parents.some((parent) => !this.#roles.has(parent))) return refused;
				this.#roles.set(entry.role, { parents: entry.parents, grants: new Set() });
				return done;
			case 'grant':
			case 'revoke': {
				const book = this.#roles.get(entry.role);
				const permission = `${entry.resource}:${entry.action}`;
				if (book === undefined || !this.#resources.get(entry.resource)?.has(entry.action)) return refused;
				const changes = book.grants.has(permission) === (entry.kind === 'revoke');
				if (entry.kind === 'grant') book.grants.add(permission);
				else book.grants.delete(permission);
				return { accepted: true, changes };
			}
			case 'delete-role':
				if (!this.#roles.delete(entry.role)) return refused;
				this.#unassignAll(1, entry.role);
				for (const [key, book] of this.#roles) {
					this.#roles.set(key, { ...book, parents: book.parents.filter((parent) => parent !== entry.role) });
				}
				return done;
			case 'assign':
			case 'unassign': {
				const { user, role, tenant } = entry;
				const assignment = JSON.stringify([user, role, tenant]);
				const known = this.#users.has(user) && this.#roles.has(role) && this.#tenants.has(tenant);
				const held = this.#assignments.get(assignment);
				if (!known) return refused;
				if (entry.kind === 'unassign') return this.#assignments.delete(assignment) ? done : refused;
				// The later expiry wins. A missing expiry counts as the latest.
				const end = entry.expires_at === undefined ? forGood : Date.parse(entry.expires_at);
				if (held !== undefined && held >= end) return refused;
				this.#assignments.set(assignment, end);
				return done;
			}
		}
	}

	/** Returns the books as a model, for the oracle. */
	model(): Model {
		const named = (key: string) => ({ key, name: key, description: null });
		return {
			schema: {
				condition_sets: [],
				set_rules: [],
				resources: [...this.#resources].map(([key, actions]) => ({
					...named(key),
					actions: [...actions].map(named),
					roles: [],
					relations: [],
				})),
				roles: [...this.#roles].map(([key, { parents, grants }]) => ({
					...named(key),
					extends: parents,
					permissions: [...grants].map((grant) => {
						const [type = '', verb = ''] = grant.split(':');
						return { resource: type, action: verb };
					}),
				})),
			},
			facts: {
				user_attributes: [...this.#users].map(([key, [first_name, attributes]]) => ({
					user: key,
					attributes: { ...(first_name === null ? {} : { first_name }), ...attributes },
				})),
				instance_attributes: [],
				users: [...this.#users.keys()],
				tenants: [...this.#tenants].map(([key, attributes]) => ({ key, attributes: attributes ?? {} })),
				role_assignments: [...this.#assignments].map(([text, end]) => {
					const [who, what, where] = JSON.parse(text) as [string, string, string];
					return { user: who, role: what, tenant: where, ...(end === forGood ? {} : { expires_at: end }) };
				}),
				instances: [],
				instance_assignments: [],
				relationships: [],
			},
		};
	}

	#unassignAll(place: 0 | 1 | 2, key: string): void {
		for (const text of this.#assignments.keys()) {
			if ((JSON.parse(text) as string[])[place] === key) this.#assignments.delete(text);
		}
	}

	#revokeAll(permission: string): void {
		for (const { grants } of this.#roles.values()) grants.delete(permission);
	}
}
