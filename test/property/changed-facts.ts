/** Applies the changes in attempts to checks and models. */

import { everyone } from '../../compiler/everyone.js';
import type { Facts, Json, Model } from '../../compiler/model.js';
import { setRelationKey } from '../../compiler/user-set.js';
import type { Attempt, AttemptFact } from '../../src/wire/decision/attempt.js';
import { noFacts } from '../support/no-facts.js';
import type { Query } from './query.js';

/** A change in an attempt: a fact or an attribute value. */
export type Change =
	| { readonly kind: 'add' | 'remove'; readonly fact: AttemptFact }
	| { readonly kind: 'change'; readonly attribute: string; readonly value: Json };

/** Returns all changes in an attempt. Does not use the code under test. */
export function listedChanges({ add, remove, compare }: Attempt): readonly Change[] {
	const values = new Map(compare.map(({ change, example }) => [change, example as Json]));
	return [
		...add.map((fact) => ({ kind: 'add' as const, fact })),
		...remove.map((fact) => ({ kind: 'remove' as const, fact })),
		...Array.from(values, ([attribute, value]) => ({ kind: 'change' as const, attribute, value })),
	];
}

/** Returns every subset of the changes, including the empty and the full set. */
export function partsOf(changes: readonly Change[]): readonly (readonly Change[])[] {
	return Array.from({ length: 1 << changes.length }, (_, part) =>
		changes.filter((_change, place) => (part & (1 << place)) !== 0),
	);
}

/** Returns the model with facts added and removed. */
export function changed(model: Model, changes: readonly Change[]): Model {
	const of = (kind: Change['kind']) =>
		changes.flatMap((change) => (change.kind === kind && 'fact' in change ? [change.fact] : []));
	return { ...model, facts: of('add').reduce(withFact, of('remove').reduce(withoutFact, model.facts)) };
}

/** Returns the check with its sent attributes changed. */
export function changedQuery(query: Query, changes: readonly Change[]): Query {
	let asked = query;
	for (const change of changes) {
		if (change.kind !== 'change') continue;
		const [object = '', ...path] = change.attribute.split('.');
		const [name = ''] = path;
		if (path.length !== 1 || (object !== 'user' && object !== 'resource')) throw new Error(change.attribute);
		const attributes = { ...asked[object].attributes, [name]: change.value };
		asked = { ...asked, [object]: { ...asked[object], attributes } };
	}
	return asked;
}

function withFact(facts: Facts, added: AttemptFact): Facts {
	switch (added.fact) {
		case 'tenant':
			return { ...facts, tenants: [...facts.tenants, { key: added.tenant, attributes: {} }] };
		case 'user':
			return { ...facts, users: [...facts.users, added.user] };
		case 'resource_instance': {
			const row = { ...splitName(added.resource_instance), tenant: added.tenant };
			return { ...facts, instances: [...facts.instances, row] };
		}
		case 'role_assignment': {
			const { user, role, tenant, resource_instance } = added;
			if (resource_instance === undefined) {
				return { ...facts, role_assignments: [...facts.role_assignments, { user, role, tenant }] };
			}
			const { type, key } = splitName(resource_instance);
			const mark = user.lastIndexOf('#');
			const holder = user.slice(0, Math.max(mark, 0));
			if (holder.includes(':')) {
				// An assignment to a set of users.
				const subject = splitName(holder);
				const relation = setRelationKey(role, { type: subject.type, role: user.slice(mark + 1) });
				const row = { type, instance: key, relation, subject_type: subject.type, subject: subject.key };
				return { ...facts, relationships: [...facts.relationships, row] };
			}
			const row = { user, role, type, instance: key };
			return { ...facts, instance_assignments: [...facts.instance_assignments, row] };
		}
		case 'relationship_tuple': {
			const [subject, object] = [splitName(added.subject), splitName(added.object)];
			const row = {
				type: object.type,
				instance: object.key,
				relation: added.relation,
				subject_type: subject.type,
				subject: subject.key,
			};
			return { ...facts, relationships: [...facts.relationships, row] };
		}
	}
}

function withoutFact(facts: Facts, removed: AttemptFact): Facts {
	if (removed.fact !== 'role_assignment' || removed.resource_instance === undefined) {
		throw new Error(`no attempt may remove this ${removed.fact}`);
	}
	const { user, role, resource_instance } = removed;
	const { type, key } = splitName(resource_instance);
	return {
		...facts,
		instance_assignments: facts.instance_assignments.filter(
			(row) => row.user !== user || row.role !== role || row.type !== type || row.instance !== key,
		),
	};
}

/**
 * Reduces the model to the facts in an attempt's chain and the attributes of the user and the resource. For a set rule,
 * also keeps the input to its conditions: the user's roles, without permissions, and all instances and relationships.
 */
export function onlyChain(
	model: Model,
	{ user: { key: user }, resource: named }: Query,
	{ chain, by }: Attempt,
): Model {
	const tenant = named.tenant ?? '';
	const empty: Facts = {
		...noFacts,
		...(by === 'set_rule' && {
			role_assignments: model.facts.role_assignments.filter((row) => row.user === user),
			instance_assignments: model.facts.instance_assignments.filter((row) => [user, everyone].includes(row.user)),
			relationships: model.facts.relationships,
		}),
		user_attributes: model.facts.user_attributes.filter((row) => row.user === user),
		instance_attributes: model.facts.instance_attributes.filter(
			({ type, key }) => by === 'set_rule' || (type === named.type && key === named.key),
		),
	};
	const instances = new Set<string>();
	const facts: AttemptFact[] = [{ fact: 'tenant', tenant }];
	if (model.facts.users.includes(user)) facts.push({ fact: 'user', user });
	for (const step of chain) {
		if (step.type === 'set_rule' || step.type === 'computed_role') continue;
		const { resource } = step;
		const inTenant = resource.startsWith('__tenant:');
		if (!inTenant) instances.add(resource);
		if (step.type === 'role_derivation') {
			instances.add(step.subject);
			facts.push({
				fact: 'relationship_tuple',
				subject: step.subject,
				relation: step.relation,
				object: resource,
				tenant,
			});
		} else if (inTenant) {
			facts.push({ fact: 'role_assignment', user, role: step.role, tenant });
		} else {
			const role = step.role.slice(resource.length + 1);
			const holder = step.user ?? user;
			facts.push({ fact: 'role_assignment', user: holder, role, tenant, resource_instance: resource });
		}
	}
	// Conditions read attributes only of existing instances, so all instances in the tenant are kept.
	if (by === 'set_rule') {
		for (const row of model.facts.instances) if (row.tenant === tenant) instances.add(`${row.type}:${row.key}`);
	}
	for (const resource_instance of instances) facts.push({ fact: 'resource_instance', resource_instance, tenant });
	const roles = model.schema.roles.map((role) => (by === 'set_rule' ? { ...role, permissions: [] } : role));
	const resources = model.schema.resources.map((resource) =>
		by === 'set_rule' ? { ...resource, roles: resource.roles.map((role) => ({ ...role, permissions: [] })) } : resource,
	);
	return changed(
		{ ...model, schema: { ...model.schema, roles, resources }, facts: empty },
		facts.map((fact) => ({ kind: 'add', fact })),
	);
}

/** Removes expired facts and facts about missing objects. */
export function standing(model: Model, time: number): Model {
	const { facts } = model;
	const users = new Set(facts.users);
	const tenants = new Set(facts.tenants.map(({ key }) => key));
	const instances = facts.instances.filter(({ tenant }) => tenants.has(tenant));
	const names = new Set(instances.map(({ type, key }) => `${type}:${key}`));
	const lives = ({ expires_at }: { readonly expires_at?: number }) => expires_at === undefined || expires_at > time;
	return {
		...model,
		facts: {
			...facts,
			instances,
			role_assignments: facts.role_assignments.filter(
				(row) => lives(row) && users.has(row.user) && tenants.has(row.tenant),
			),
			instance_assignments: facts.instance_assignments.filter(
				(row) =>
					lives(row) && (users.has(row.user) || row.user === everyone) && names.has(`${row.type}:${row.instance}`),
			),
			relationships: facts.relationships.filter(
				(row) =>
					lives(row) && names.has(`${row.type}:${row.instance}`) && names.has(`${row.subject_type}:${row.subject}`),
			),
			user_attributes: facts.user_attributes.filter(({ user }) => users.has(user)),
			instance_attributes: facts.instance_attributes.filter(({ type, key }) => names.has(`${type}:${key}`)),
		},
	};
}

function splitName(name: string) {
	const colon = name.indexOf(':');
	return { type: name.slice(0, colon), key: name.slice(colon + 1) };
}
