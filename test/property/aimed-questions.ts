/** Questions that a model's grants may decide. Random questions rarely match a random grant. */

import { everyone } from '../../compiler/everyone.js';
import type { ConditionSet, Expiring, Model } from '../../compiler/model.js';

/** A user and an action that a grant may allow, in a tenant or on an instance. */
export interface Aim {
	/** Absent for a grant to everyone. */
	readonly user?: string;
	readonly type: string;
	readonly action: string;
	readonly tenant?: string;
	readonly key?: string;
}

/** Returns a model's aims by grant kind. If some grants of a kind expire, returns only their aims. */
export function aimsOf({ schema, facts }: Model): readonly (readonly Aim[])[] {
	const { role_assignments, instance_assignments, relationships } = facts;
	const assigned = preferExpiring(role_assignments);
	const actionsOn = (type: string) => resourceNamed(type)?.actions.map(({ key }) => key) ?? [];
	const resourceNamed = (type: string) => schema.resources.find(({ key }) => key === type);
	/** Returns the rules with a chosen user set. */
	const rulesOf = (isChosen: (set: ConditionSet) => boolean) => {
		const chosen = schema.condition_sets.filter((set) => set.type === 'userset' && isChosen(set));
		return schema.set_rules.filter(({ user_set }) => chosen.some(({ key }) => key === user_set));
	};
	const aimOn = (type: string, key: string, user: string) => {
		return actionsOn(type).map((action) => ({ ...(user === everyone ? {} : { user }), type, action, key }));
	};
	return [
		assigned.flatMap(({ user, tenant, role }) =>
			withParents(schema.roles, role)
				.flatMap(({ permissions }) => permissions)
				.map(({ resource: type, action }) => ({ user, type, action, tenant })),
		),
		assigned.flatMap(({ user, tenant, role }) =>
			rulesOf(({ selects }) => JSON.stringify(selects).includes(JSON.stringify(role))).map((rule) => {
				return { user, type: rule.resource, action: rule.action, tenant };
			}),
		),
		preferExpiring(instance_assignments).flatMap(({ user, type, instance }) =>
			rulesOf(({ resource }) => resource === type).map(({ action }) => ({ user, type, action, key: instance })),
		),
		preferExpiring(instance_assignments.filter(({ user }) => user === everyone)).flatMap(({ type, instance }) =>
			aimOn(type, instance, everyone),
		),
		preferExpiring(instance_assignments).flatMap(({ user, type, instance }) => aimOn(type, instance, user)),
		preferExpiring(relationships).flatMap(({ type, instance, subject_type, subject }) =>
			instance_assignments
				.filter((row) => row.type === subject_type && row.instance === subject)
				.flatMap(({ user }) => aimOn(type, instance, user)),
		),
	].filter((aims) => aims.length > 0);
}

function preferExpiring<T extends Expiring>(rows: readonly T[]): readonly T[] {
	const expiring = rows.filter(({ expires_at }) => expires_at !== undefined);
	return expiring.length > 0 ? expiring : rows;
}

/** Returns a role and all roles that it extends. */
function withParents<R extends { readonly key: string; readonly extends: readonly string[] }>(
	roles: readonly R[],
	key: string,
): readonly R[] {
	const own = roles.filter((role) => role.key === key);
	return [...own, ...own.flatMap((role) => role.extends.flatMap((parent) => withParents(roles, parent)))];
}
