import { joinedKeys } from './joined-keys.js';
import { demand, drop, instanceType, known, Refused, roleIn, type State } from './relationship-state.js';
import type { FactWrite, Held, Tuple } from './relationship-writes.js';
import { removeInstances } from './schema-books.js';

/** Applies fact writes to the books. All functions throw `Refused` if a write must be refused. */

/** Enters a fact write. */
export function enterFact(state: State, entry: FactWrite): void {
	const { users, tenants, assignments, tuples } = state;
	switch (entry.kind) {
		case 'create-user':
			demand(!users.has(entry.user), 'the user exists');
			users.add(entry.user);
			break;
		case 'delete-user':
			demand(users.delete(entry.user), 'no such user');
			drop(assignments, ({ user }) => user === entry.user);
			break;
		case 'create-tenant':
			demand(!tenants.has(entry.tenant), 'the tenant exists');
			tenants.add(entry.tenant);
			break;
		case 'delete-tenant':
			demand(tenants.delete(entry.tenant), 'no such tenant');
			removeInstances(state, (_, tenant) => tenant === entry.tenant);
			break;
		case 'create-instance':
			demand(!state.instances.has(entry.instance), 'the instance exists');
			addInstance(state, entry.instance, entry.tenant);
			break;
		case 'delete-instance':
			known(state.instances, entry.instance);
			removeInstances(state, (name) => name === entry.instance);
			break;
		case 'assign':
			assign(state, entry, entry.tenant);
			break;
		case 'unassign':
			demand(assignments.delete(joinedKeys(entry.user, entry.role, entry.instance)), 'the role is not assigned');
			break;
		case 'relate':
			relate(state, entry, entry.tenant);
			break;
		case 'unrelate':
			demand(tuples.delete(tupleKey(entry)), 'no such relationship');
			break;
		case 'relate-many':
			relateMany(state, entry.tuples, entry.tenant);
			break;
		case 'unrelate-many':
			for (const tuple of entry.tuples) tuples.delete(tupleKey(tuple));
	}
}

function addInstance(state: State, name: string, tenant: string): void {
	known(state.resources, instanceType(name));
	demand(state.tenants.has(tenant), 'no such tenant');
	state.instances.set(name, { tenant, group: null });
}

/** Creates missing instances in `tenant`. Refuses missing instances if `tenant` is not set. */
function ensureInstances(state: State, names: readonly string[], tenant: string | undefined): void {
	for (const name of names) {
		if (state.instances.has(name)) continue;
		if (tenant === undefined) throw new Refused('instances are not created without a tenant');
		addInstance(state, name, tenant);
	}
}

function assign(state: State, { user, role, instance }: Held, tenant: string | undefined): void {
	demand(state.users.has(user), 'no such user');
	demand(tenant === undefined || state.tenants.has(tenant), 'no such tenant');
	ensureInstances(state, [instance], tenant);
	demand(
		tenant === undefined || known(state.instances, instance).tenant === tenant,
		'the instance is in a different tenant',
	);
	roleIn(state, instanceType(instance), role);
	const key = joinedKeys(user, role, instance);
	demand(!state.assignments.has(key), 'the role is already assigned');
	state.assignments.set(key, { user, role, instance });
}

function relate(state: State, { subject, relation, object }: Tuple, tenant: string | undefined): void {
	const key = tupleKey({ subject, relation, object });
	demand(!state.tuples.has(key), 'the relationship exists');
	relateMany(state, [{ subject, relation, object }], tenant);
}

function relateMany(state: State, tuples: readonly Tuple[], tenant: string | undefined): void {
	ensureInstances(
		state,
		tuples.flatMap(({ subject, object }) => [subject, object]),
		tenant,
	);
	for (const tuple of tuples) {
		const { subject, relation, object } = tuple;
		const along = known(known(state.resources, instanceType(object)).relations, relation);
		demand(along.subject === instanceType(subject), 'the relation has a different subject resource');
		const [from, to] = [known(state.instances, subject), known(state.instances, object)];
		demand(from.tenant === to.tenant, 'the instances are in different tenants');
		if (!state.tuples.has(tupleKey(tuple))) state.tuples.set(tupleKey(tuple), tuple);
	}
}

/** Returns a tuple's key. */
export function tupleKey({ subject, relation, object }: Tuple): string {
	return joinedKeys(subject, relation, object);
}
