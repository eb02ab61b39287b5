import { tupleKey } from './fact-books.js';
import { joinedKeys } from './joined-keys.js';
import { demand, drop, type InstanceBook, instanceType, known, roleIn, type State } from './relationship-state.js';
import type { GroupWrite, Rule, Tuple } from './relationship-writes.js';
import {
	addResource,
	addRole,
	derive,
	removeInstances,
	removeRelation,
	removeResource,
	removeRole,
} from './schema-books.js';

/**
 * Applies groups API calls to the books (docs/develop/groups.md). All functions throw `Refused` if a write must be
 * refused.
 */

const member = 'member';

/** Enters a groups API call. */
export function enterGroup(state: State, entry: GroupWrite): void {
	if (entry.kind === 'create-group') createGroup(state, entry.group, entry.tenant);
	else enterExisting(state, entry, groupNamed(state, entry.group));
}

function enterExisting(
	state: State,
	entry: Exclude<GroupWrite, { readonly kind: 'create-group' }>,
	group: InstanceBook,
): void {
	const { group: name } = entry;
	switch (entry.kind) {
		case 'delete-group':
			removeGroup(state, name, group);
			break;
		case 'add-member':
			demand(state.users.has(entry.user), 'no such user');
			demand(entry.tenant === group.tenant, 'another tenant');
			ensureMember(state, instanceType(name));
			state.assignments.set(joinedKeys(entry.user, member, name), { user: entry.user, role: member, instance: name });
			break;
		case 'remove-member':
			demand(entry.tenant === undefined || entry.tenant === group.tenant, 'another tenant');
			demand(state.assignments.delete(joinedKeys(entry.user, member, name)), 'no member');
			break;
		case 'nest':
		case 'release': {
			const child = groupNamed(state, entry.child);
			if (entry.kind === 'release') take(state, entry.child, member, name);
			else nest(state, [name, group], [entry.child, child]);
			return;
		}
		case 'give':
		case 'take': {
			const { role, instance, tenant } = entry;
			const object = known(state.instances, instance);
			roleIn(state, instanceType(instance), role);
			demand(tenant === group.tenant && tenant === object.tenant, 'another tenant');
			if (entry.kind === 'take') {
				take(state, name, role, instance);
			} else {
				demand(!hasRole(state, name, role, instance), 'the group has the role');
				give(state, name, role, instance);
			}
		}
	}
}

function groupNamed(state: State, name: string): InstanceBook {
	const instance = known(state.instances, name);
	demand(instance.group !== null, 'the instance is not a group');
	return instance;
}

function createGroup(state: State, name: string, tenant: string): void {
	demand(state.tenants.has(tenant), 'no such tenant');
	if (!state.resources.has(instanceType(name))) addResource(state, instanceType(name), [], true);
	ensureMember(state, instanceType(name));
	const existing = state.instances.get(name);
	demand(existing?.group !== 'made' && existing?.group !== 'marked', 'the instance is already a group');
	demand(existing === undefined || existing.tenant === tenant, 'the instance is in a different tenant');
	state.instances.set(name, { tenant, group: existing === undefined ? 'made' : 'marked' });
}

type Named = readonly [name: string, group: InstanceBook];

function nest(state: State, [parent, outer]: Named, [child, inner]: Named): void {
	demand(instanceType(child) === instanceType(parent), 'the groups have different types');
	demand(inner.tenant === outer.tenant, 'another tenant');
	ensureMember(state, instanceType(parent));
	if (!hasRole(state, child, member, parent)) give(state, child, member, parent);
}

function ensureMember(state: State, type: string): void {
	if (!known(state.resources, type).roles.has(member)) addRole(state, type, member, true);
}

/** Returns the rules that use a tuple's relation, with the roles derived by these rules. */
function relationRules(
	state: State,
	{ object, relation }: Pick<Tuple, 'object' | 'relation'>,
): readonly (Rule & { to: string })[] {
	return [...known(state.resources, instanceType(object)).roles].flatMap(([to, { rules }]) =>
		rules.filter((rule) => rule.relation === relation).map((rule) => ({ ...rule, to })),
	);
}

/** Returns the sorted roles that an instance's members derive from this instance alone, as `<instance>#<role>`. */
export function rolesOfGroup(state: State, name: string): readonly string[] {
	const roles = [...state.tuples.values()]
		.filter(({ subject }) => subject === name)
		.flatMap((tuple) => relationRules(state, tuple).map((rule) => [rule.role, `${tuple.object}#${rule.to}`] as const));
	return [...new Set(roles.filter(([from]) => from === member).map(([, role]) => role))].sort();
}

function hasRole(state: State, group: string, role: string, object: string): boolean {
	return rolesOfGroup(state, group).includes(`${object}#${role}`);
}

/** Relates the group to the object by a relation that derives only this role from `member`. */
function give(state: State, group: string, role: string, object: string): void {
	const [from, to] = [instanceType(group), instanceType(object)];
	ensureMember(state, from);
	demand(group !== object || role !== member, 'the group would contain itself');
	const { relations } = known(state.resources, to);
	const fitting = [...relations].find(([relation, { subject }]) => {
		const [rule, ...more] = relationRules(state, { object, relation });
		const only = rule !== undefined && more.length === 0 && !rule.blocked;
		return subject === from && only && rule.to === role && rule.role === member;
	});
	const relation = fitting?.[0] ?? makeRelation(state, from, to, role);
	const tuple = { subject: group, relation, object };
	state.tuples.set(tupleKey(tuple), tuple);
}

function makeRelation(state: State, from: string, to: string, role: string): string {
	const { relations } = known(state.resources, to);
	let relation = `${role}_${from}`;
	for (let number = 2; relations.has(relation); number += 1) relation = `${role}_${from}_${number}`;
	relations.set(relation, { subject: from, made: true });
	derive(state, to, role, { relation, type: from, role: member, blocked: false });
	return relation;
}

function take(state: State, group: string, role: string, object: string): void {
	const giving = [...state.tuples.values()].filter(
		(tuple) =>
			tuple.subject === group &&
			tuple.object === object &&
			relationRules(state, tuple).some((rule) => rule.to === role && rule.role === member),
	);
	demand(giving.length > 0, 'the group has no such role');
	for (const tuple of giving) {
		demand(relationRules(state, tuple).length === 1, 'the relationship also derives other roles');
		state.tuples.delete(tupleKey(tuple));
	}
	removeUnneeded(state);
}

/**
 * Removes a group. Deletes the instance if it was created as a group. A marked instance stays, but loses its members
 * and member roles.
 */
function removeGroup(state: State, name: string, { tenant, group }: InstanceBook): void {
	if (group === 'made') {
		removeInstances(state, (other) => other === name);
	} else {
		if (known(state.resources, instanceType(name)).roles.has(member)) releaseMembers(state, name);
		state.instances.set(name, { tenant, group: null });
	}
	removeUnneeded(state);
}

function releaseMembers(state: State, name: string): void {
	drop(state.assignments, ({ instance, role }) => instance === name && role === member);
	drop(state.tuples, (tuple) => {
		const [rule, ...more] = relationRules(state, tuple);
		if (rule === undefined || more.length > 0) return false;
		return tuple.subject === name ? rule.role === member : tuple.object === name && rule.to === member;
	});
}

/** Removes schema objects created for groups, if no group needs them and no client has extended them. */
function removeUnneeded(state: State): void {
	for (const [type, { relations }] of state.resources) {
		for (const [relation, { made }] of [...relations]) {
			const used = [...state.tuples.values()].some(
				(row) => row.relation === relation && instanceType(row.object) === type,
			);
			const [rule, ...more] = relationRules(state, { object: type, relation });
			const derivesMore = more.length > 0 || (rule !== undefined && rule.role !== member);
			if (made && !used && !derivesMore) removeRelation(state, type, relation);
		}
	}
	for (const [type, { roles }] of state.resources) {
		for (const [role, { made }] of [...roles]) if (made && isUnused(state, type, role)) removeRole(state, type, role);
	}
	for (const [type, { made, actions, roles, relations }] of [...state.resources]) {
		const related = [...state.resources.values()].some((other) =>
			[...other.relations.values()].some(({ subject }) => subject === type),
		);
		const instances = [...state.instances.keys()].some((name) => instanceType(name) === type);
		const used = related || instances || actions.size + roles.size + relations.size > 0;
		if (made && !used) removeResource(state, type);
	}
}

function isUnused(state: State, type: string, key: string): boolean {
	const { permissions, parents, rules } = roleIn(state, type, key);
	const siblings = [...known(state.resources, type).roles.values()];
	const all = [...state.resources.values()].flatMap(({ roles }) => [...roles.values()]);
	const groups = [...state.instances].some(([name, { group }]) => group !== null && instanceType(name) === type);
	const held = [...state.assignments.values()].some((row) => instanceType(row.instance) === type && row.role === key);
	const extended = siblings.some((other) => other.parents.has(key));
	const deriving = all.some((other) => other.rules.some((rule) => rule.type === type && rule.role === key));
	return !groups && !held && !extended && !deriving && permissions.size + parents.size + rules.length === 0;
}
