/** The tables of the schema that listings read from the data document. */

import { z } from 'zod';
import type { Json } from '../../../compiler/model.js';
import { jsonMembers, valueAt } from './json-members.js';

const Derivation = z.object({
	relation: z.string(),
	/** The resource type of the relation's subjects. */
	resource: z.string(),
	/** The role on a subject that it is derived from. */
	role: z.string(),
	/** Whether a user with any role assigned on the object derives nothing by this. */
	no_direct_roles_on_object: z.boolean(),
});

/** A way in which a role on an instance, the object, is derived from a role on a related one, a subject. */
export type Derivation = z.output<typeof Derivation>;

/** A role that is derived from another one, seen from the latter: the type and the role on objects of the relation. */
export type Derived = Pick<Derivation, 'relation' | 'resource' | 'role'>;

const Derivations = z.array(Derivation).catch([]);

/** The tables of one schema. What is missing or has another shape counts as empty, as it does in the policy. */
export class SchemaTables {
	readonly #derivations = new Map<string, readonly Derivation[]>();
	readonly #derived = new Map<string, Derived[]>();

	/** @param value the value at `regolith.schema`. */
	constructor(readonly value: Json) {
		for (const [type, roles] of jsonMembers(valueAt(value, 'resource_roles'))) {
			for (const [role, ways] of jsonMembers(roles)) {
				const derivations = Derivations.parse(ways);
				this.#derivations.set(roleName(type, role), derivations);
				for (const { relation, resource, role: source } of derivations) {
					const derived = this.#derived.get(roleName(resource, source)) ?? [];
					this.#derived.set(roleName(resource, source), derived);
					derived.push({ relation, resource: type, role });
				}
			}
		}
	}

	/** The ways in which a role of a resource type is derived. */
	derivations(type: string, role: string): readonly Derivation[] {
		return this.#derivations.get(roleName(type, role)) ?? [];
	}

	/** The roles that are derived from a role of a resource type. */
	derivedFrom(type: string, role: string): readonly Derived[] {
		return this.#derived.get(roleName(type, role)) ?? [];
	}

	/** The keys of all roles on instances of a resource type. */
	rolesOn(type: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'resource_roles', type));
	}

	/** The tenant roles that grant an action on a resource type. */
	tenantRolesThatGrant(type: string, action: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'grants', type, action));
	}

	/** The tenant roles that grant any action on a resource type. */
	tenantRolesThatGrantSomething(type: string): ReadonlySet<string> {
		return new Set(jsonMembers(valueAt(this.value, 'grants', type)).flatMap(([, roles]) => memberKeys(roles)));
	}

	/** The keys of all resource types. */
	get types(): readonly string[] {
		return memberKeys(valueAt(this.value, 'actions'));
	}

	/** The keys of all actions on a resource type. */
	actions(type: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'actions', type));
	}

	/** Whether condition sets may grant an action on a resource type; any action, when none is given. */
	setsMayGrant(type: string, ...action: readonly string[]): boolean {
		return jsonMembers(valueAt(this.value, 'set_rules', type, ...action)).length > 0;
	}

	/** The roles on instances of a resource type that grant an action there. */
	instanceRolesThatGrant(type: string, action: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'resource_grants', type, action));
	}
}

function memberKeys(value: Json | undefined): readonly string[] {
	return jsonMembers(value).map(([key]) => key);
}

/** One text for one role of one type, whatever characters the keys hold. */
function roleName(type: string, role: string): string {
	return JSON.stringify([type, role]);
}
