/** What listings read of the schema's tables in the data document. */

import { z } from 'zod';
import type { Json } from '../../compiler/model.js';
import { membersOf, valueAt } from './members.js';

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

/** A role that is derived from another one, seen from there: the type and the role on objects of the relation. */
export type Derived = Pick<Derivation, 'relation' | 'resource' | 'role'>;

const Derivations = z.array(Derivation).catch([]);

/** The tables of one schema. What is missing or shaped otherwise counts as empty, as it does in the policy. */
export class SchemaTables {
	readonly #derivations = new Map<string, readonly Derivation[]>();
	readonly #derived = new Map<string, Derived[]>();

	/** @param value what stands at `regolith.schema`. */
	constructor(readonly value: Json) {
		for (const [type, roles] of membersOf(valueAt(value, 'resource_roles'))) {
			for (const [role, ways] of membersOf(roles)) {
				const derivations = Derivations.parse(ways);
				this.#derivations.set(nameOf(type, role), derivations);
				for (const { relation, resource, role: source } of derivations) {
					const derived = this.#derived.get(nameOf(resource, source)) ?? [];
					this.#derived.set(nameOf(resource, source), derived);
					derived.push({ relation, resource: type, role });
				}
			}
		}
	}

	/** The ways in which a role of a resource type is derived. */
	derivations(type: string, role: string): readonly Derivation[] {
		return this.#derivations.get(nameOf(type, role)) ?? [];
	}

	/** The roles that are derived from a role of a resource type. */
	derivedFrom(type: string, role: string): readonly Derived[] {
		return this.#derived.get(nameOf(type, role)) ?? [];
	}

	/** The tenant roles that grant an action on a resource type. */
	tenantRolesThatGrant(type: string, action: string): readonly string[] {
		return keysOf(valueAt(this.value, 'grants', type, action));
	}

	/** Whether condition sets may grant an action on a resource type; any action, when none is given. */
	setsMayGrant(type: string, ...action: readonly string[]): boolean {
		return membersOf(valueAt(this.value, 'set_rules', type, ...action)).length > 0;
	}

	/** The roles on instances of a resource type that grant an action there. */
	instanceRolesThatGrant(type: string, action: string): readonly string[] {
		return keysOf(valueAt(this.value, 'resource_grants', type, action));
	}
}

function keysOf(value: Json | undefined): readonly string[] {
	return membersOf(value).map(([key]) => key);
}

/** One text for one role of one type, whatever characters the keys hold. */
function nameOf(type: string, role: string): string {
	return JSON.stringify([type, role]);
}
