/** Schema tables in the data document, for listings. */

import { z } from 'zod';
import type { Json } from '../../../compiler/model.js';
import { jsonMembers, valueAt } from './json-members.js';

const Derivation = z.object({
	relation: z.string(),
	/** Resource type of the relation's subjects. */
	resource: z.string(),
	/** Source role on a subject. */
	role: z.string(),
	/** True if any role assigned to the user on the object blocks this derivation. */
	no_direct_roles_on_object: z.boolean(),
});

/** A rule that derives a role on an object from a role on a related subject. */
export type Derivation = z.output<typeof Derivation>;

/** A derivation seen from its source role: `resource` and `role` are the derived role with its type. */
export type Derived = Derivation;

const Derivations = z.array(Derivation).catch([]);

/** Tables in a schema. Missing or malformed tables are treated as empty, as in the policy. */
export class SchemaTables {
	readonly #derivations = new Map<string, readonly Derivation[]>();
	readonly #derived = new Map<string, Derived[]>();
	/** True if an assigned role may block a derivation. */
	readonly hasStops: boolean;

	/** @param value the value at `regolith.schema`. */
	constructor(readonly value: Json) {
		let hasStops = false;
		for (const [type, roles] of jsonMembers(valueAt(value, 'resource_roles'))) {
			for (const [role, ways] of jsonMembers(roles)) {
				const derivations = Derivations.parse(ways);
				this.#derivations.set(roleName(type, role), derivations);
				for (const derivation of derivations) {
					const { resource, role: source } = derivation;
					hasStops ||= derivation.no_direct_roles_on_object;
					const derived = this.#derived.get(roleName(resource, source)) ?? [];
					this.#derived.set(roleName(resource, source), derived);
					derived.push({ ...derivation, resource: type, role });
				}
			}
		}
		this.hasStops = hasStops;
	}

	/** Returns the derivations of a role on a resource type. */
	derivations(type: string, role: string): readonly Derivation[] {
		return this.#derivations.get(roleName(type, role)) ?? [];
	}

	/** Returns the roles derived from a role on a resource type. */
	derivedFrom(type: string, role: string): readonly Derived[] {
		return this.#derived.get(roleName(type, role)) ?? [];
	}

	/** Returns the keys of all roles on instances of a resource type. */
	rolesOn(type: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'resource_roles', type));
	}

	/** Returns the tenant roles that grant an action on a resource type. */
	tenantRolesThatGrant(type: string, action: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'grants', type, action));
	}

	/** Returns the tenant roles that grant any action on a resource type. */
	tenantRolesThatGrantSomething(type: string): ReadonlySet<string> {
		return new Set(jsonMembers(valueAt(this.value, 'grants', type)).flatMap(([, roles]) => memberKeys(roles)));
	}

	/** All resource type keys. */
	get types(): readonly string[] {
		return memberKeys(valueAt(this.value, 'actions'));
	}

	/** Returns the keys of all actions on a resource type. */
	actions(type: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'actions', type));
	}

	/** True if condition sets may grant an action on a resource type. Without `action`, considers all actions. */
	setsMayGrant(type: string, ...action: readonly string[]): boolean {
		return jsonMembers(valueAt(this.value, 'set_rules', type, ...action)).length > 0;
	}

	/** Returns the instance roles that grant an action on a resource type. */
	instanceRolesThatGrant(type: string, action: string): readonly string[] {
		return memberKeys(valueAt(this.value, 'resource_grants', type, action));
	}
}

function memberKeys(value: Json | undefined): readonly string[] {
	return jsonMembers(value).map(([key]) => key);
}

/** Returns a unique string for a type and role, even if their keys contain special characters. */
function roleName(type: string, role: string): string {
	return JSON.stringify([type, role]);
}
