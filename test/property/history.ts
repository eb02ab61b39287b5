/** An environment that changes step by step and remembers, as a store does, what each step touched. */
import fc from 'fast-check';
import type { Membership, Model, Neighbourhood, RoleAssignment, Schema, Touched } from '../../compiler/index.js';
import { schema as anySchema } from '../compiler/model.js';

/** One write. A write that makes no sense where it comes changes nothing. */
export type Step =
	| { readonly kind: 'create_user' | 'delete_user'; readonly user: string }
	| { readonly kind: 'create_tenant' | 'update_tenant'; readonly tenant: string; readonly plan: number }
	| { readonly kind: 'delete_tenant'; readonly tenant: string }
	| { readonly kind: 'assign' | 'unassign'; readonly user: string; readonly role: string; readonly tenant: string }
	| { readonly kind: 'change_schema'; readonly schema: Schema };

const user = fc.constantFrom('ann', 'bob', '__proto__', 'a/b~c%20');
const tenant = fc.constantFrom('acme', 'beta', '1');
const role = fc.constantFrom('ra', 'rb', 'r1', 'r__proto__');
const plan = fc.integer({ min: 0, max: 3 });

/** Any step, with a liking for creating and assigning, so that there is something to take away. */
export const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('create_user' as const), user }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete_user' as const), user }) },
	{
		weight: 4,
		arbitrary: fc.record({ kind: fc.constantFrom('create_tenant' as const, 'update_tenant' as const), tenant, plan }),
	},
	{ weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('delete_tenant' as const), tenant }) },
	{ weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('assign' as const), user, role, tenant }) },
	{ weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('unassign' as const), user, role, tenant }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constant('change_schema' as const), schema: anySchema }) },
);

export const emptyModel: Model = {
	schema: { resources: [], roles: [] },
	facts: { users: [], tenants: [], role_assignments: [] },
};

const nothing: Touched = { schema: false, users: [], tenants: [], tenant_attributes: [], memberships: [] };

/** The model after a step, and what the step touched. */
export function take(model: Model, taken: Step): { readonly model: Model; readonly touched: Touched } {
	const { facts } = model;
	const { users, tenants, role_assignments: held } = facts;
	switch (taken.kind) {
		case 'create_user':
			return users.includes(taken.user)
				? { model, touched: nothing }
				: {
						model: { ...model, facts: { ...facts, users: [...users, taken.user] } },
						touched: { ...nothing, users: [taken.user] },
					};
		case 'delete_user':
			return remove(model, (assignment) => assignment.user === taken.user, {
				...nothing,
				users: users.filter((key) => key === taken.user),
			});
		case 'create_tenant':
		case 'update_tenant': {
			const others = tenants.filter((candidate) => candidate.key !== taken.tenant);
			const exists = others.length < tenants.length;
			if (exists !== (taken.kind === 'update_tenant')) {
				return { model, touched: nothing };
			}
			const written = { key: taken.tenant, attributes: { plan: taken.plan } };
			return {
				model: { ...model, facts: { ...facts, tenants: [...others, written] } },
				touched: { ...nothing, [exists ? 'tenant_attributes' : 'tenants']: [taken.tenant] },
			};
		}
		case 'delete_tenant':
			return remove(model, (assignment) => assignment.tenant === taken.tenant, {
				...nothing,
				tenants: tenants.map(({ key }) => key).filter((key) => key === taken.tenant),
			});
		case 'assign': {
			const { kind: _, ...assignment } = taken;
			const exists = users.includes(taken.user) && tenants.some(({ key }) => key === taken.tenant);
			return exists && !held.some((other) => same(other, assignment))
				? {
						model: { ...model, facts: { ...facts, role_assignments: [...held, assignment] } },
						touched: { ...nothing, memberships: [assignment] },
					}
				: { model, touched: nothing };
		}
		case 'unassign':
			return remove(model, (assignment) => same(assignment, taken), nothing);
		case 'change_schema':
			return { model: { ...model, schema: taken.schema }, touched: { ...nothing, schema: true } };
	}
}

/** Removes users and tenants that were touched, and assignments: what is removed by cascade is touched as well. */
function remove(
	model: Model,
	gone: (assignment: RoleAssignment) => boolean,
	touched: Touched,
): { readonly model: Model; readonly touched: Touched } {
	const { users, tenants, role_assignments: held } = model.facts;
	const facts = {
		users: users.filter((key) => !touched.users.includes(key)),
		tenants: tenants.filter(({ key }) => !touched.tenants.includes(key)),
		role_assignments: held.filter((assignment) => !gone(assignment)),
	};
	return { model: { ...model, facts }, touched: { ...touched, memberships: held.filter(gone) } };
}

function same(left: RoleAssignment, right: RoleAssignment): boolean {
	return left.user === right.user && left.role === right.role && left.tenant === right.tenant;
}

/** What a run of steps touched, together. */
export function together(run: readonly Touched[]): Touched {
	return {
		schema: run.some((touched) => touched.schema),
		users: run.flatMap((touched) => touched.users),
		tenants: run.flatMap((touched) => touched.tenants),
		tenant_attributes: run.flatMap((touched) => touched.tenant_attributes),
		memberships: run.flatMap((touched) => touched.memberships),
	};
}

/** The part of a model that a delta is computed from: no more than its contract promises. */
export function neighbourhood({ schema, facts }: Model, touched: Touched): Neighbourhood {
	const users = new Set([...touched.users, ...touched.memberships.map((membership) => membership.user)]);
	const tenants = new Set([
		...touched.tenants,
		...touched.tenant_attributes,
		...touched.memberships.map((membership) => membership.tenant),
	]);
	const isTouched = (assignment: Membership) =>
		touched.memberships.some(({ user: own, tenant: place }) => own === assignment.user && place === assignment.tenant);
	return {
		schema: touched.schema ? schema : null,
		users: facts.users.filter((key) => users.has(key)),
		tenants: facts.tenants.filter(({ key }) => tenants.has(key)),
		role_assignments: facts.role_assignments.filter(isTouched),
	};
}
