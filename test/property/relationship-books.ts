import { isDeepStrictEqual } from 'node:util';
import type { Model } from '../../compiler/index.js';
import { enterFact } from './fact-books.js';
import { enterGroup, rolesOfGroup } from './group-books.js';
import { instanceType, Refused, type State } from './relationship-state.js';
import { isFactWrite, isGroupWrite, type Write } from './relationship-writes.js';
import { enterSchema } from './schema-books.js';

/**
 * The books of an environment: its expected state. They determine whether a write must be accepted, and the resulting
 * state. They share no code with the store.
 */
export class RelationshipBooks {
	#state: State = {
		users: new Set(),
		tenants: new Set(['default']),
		resources: new Map(),
		instances: new Map(),
		assignments: new Map(),
		tuples: new Map(),
	};

	/**
	 * Enters a write. `accepted` is true if the write must be accepted, and `changes` if it changes anything. A refused
	 * write changes nothing.
	 */
	enter(entry: Write): { readonly accepted: boolean; readonly changes: boolean } {
		const before = structuredClone(this.#state);
		try {
			if (isFactWrite(entry)) enterFact(this.#state, entry);
			else if (isGroupWrite(entry)) enterGroup(this.#state, entry);
			else enterSchema(this.#state, entry);
			return { accepted: true, changes: !isDeepStrictEqual(before, this.#state) };
		} catch (error) {
			if (!(error instanceof Refused)) throw error;
			this.#state = before;
			return { accepted: false, changes: false };
		}
	}

	/** True if a write would be accepted and change something. Does not enter the write. */
	wouldChange(entry: Write): boolean {
		const before = this.#state;
		this.#state = structuredClone(before);
		const { changes } = this.enter(entry);
		this.#state = before;
		return changes;
	}

	/** Returns the books as a model for the compiler. */
	model(): Model {
		const { users, tenants, resources, instances, assignments, tuples } = this.#state;
		const named = (key: string) => ({ key, name: key, description: null });
		return {
			schema: {
				condition_sets: [],
				set_rules: [],
				roles: [],
				resources: [...resources].map(([key, resource]) => ({
					...named(key),
					actions: [...resource.actions].map(named),
					relations: [...resource.relations].map(([relation, { subject }]) => ({ ...named(relation), subject })),
					roles: [...resource.roles].map(([role, { permissions, parents, rules, blocked }]) => ({
						...named(role),
						permissions: [...permissions],
						extends: [...parents],
						derivations: rules.map((rule) => ({
							relation: rule.relation,
							role: rule.role,
							no_direct_roles_on_object: rule.blocked,
						})),
						no_direct_roles_on_object: blocked,
					})),
				})),
			},
			facts: {
				users: [...users],
				tenants: [...tenants].map((key) => ({ key, attributes: {} })),
				role_assignments: [],
				user_attributes: [],
				instance_attributes: [],
				instances: [...instances].map(([name, { tenant }]) => ({ ...parts(name), tenant })),
				instance_assignments: [...assignments.values()].map(({ user, role, instance }) => {
					const { type, key } = parts(instance);
					return { user, role, type, instance: key };
				}),
				relationships: [...tuples.values()].map(({ subject, relation, object }) => {
					const [from, to] = [parts(subject), parts(object)];
					return { type: to.type, instance: to.key, relation, subject_type: from.type, subject: from.key };
				}),
			},
		};
	}

	/** Returns all contents as sorted lines of text, to compare with the API's lists. */
	contents(): readonly string[] {
		const { users, tenants, resources, instances, assignments, tuples } = this.#state;
		const places = [...assignments.values()].map(
			({ user, instance }) => `listed ${user} in ${instances.get(instance)?.tenant}`,
		);
		return [
			...[...resources].flatMap(([type, { actions, relations, roles }]) => [
				`resource ${type}`,
				...[...actions].map((action) => `resource_action ${type}:${action}`),
				...[...relations.keys()].map((relation) => `relation ${type}:${relation}`),
				...[...roles].flatMap(([role, { permissions, parents, rules }]) => [
					`role ${type}:${role}`,
					...[...permissions].map((action) => `${type}:${role} grants ${action}`),
					...[...parents].map((parent) => `${type}:${role} extends ${parent}`),
					...rules.map((rule) => `${type}:${role} from ${rule.type}:${rule.role} by ${rule.relation}`),
				]),
			]),
			...[...tenants].map((tenant) => `tenant ${tenant}`),
			...[...users].map((user) => `user ${user}`),
			...new Set(places),
			...[...assignments.values()].map(({ user, role, instance }) => `role_assignment ${user}#${role}@${instance}`),
			...[...instances.keys()].map((name) => `resource_instance ${name}`),
			...[...tuples.values()].map(
				({ subject, relation, object }) => `relationship_tuple ${object}#${relation}@${subject}`,
			),
			...this.groups().map((group) => `group ${group}`),
		].sort();
	}

	/** Returns all group names. */
	groups(): readonly string[] {
		return [...this.#state.instances].filter(([, { group }]) => group !== null).map(([name]) => name);
	}

	/** Returns a group's lists, each sorted. Roles have the form `<instance>#<role>`. */
	group(name: string): GroupLists {
		const roles = (group: string) => rolesOfGroup(this.#state, group);
		const inside = (child: string, parent: string) => roles(child).includes(`${parent}#member`);
		const held = [...this.#state.assignments.values()].filter((row) => row.instance === name);
		return {
			users: held
				.filter(({ role }) => role === 'member')
				.map(({ user }) => user)
				.sort(),
			roles: roles(name),
			children: this.groups()
				.filter((other) => inside(other, name))
				.sort(),
			parents: this.groups()
				.filter((other) => inside(name, other))
				.sort(),
		};
	}
}

/** A group's lists. */
export interface GroupLists {
	readonly users: readonly string[];
	readonly roles: readonly string[];
	readonly children: readonly string[];
	readonly parents: readonly string[];
}

function parts(name: string): { readonly type: string; readonly key: string } {
	const type = instanceType(name);
	return { type, key: name.slice(type.length + 1) };
}
