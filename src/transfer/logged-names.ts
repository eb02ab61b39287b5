import { setRelationKey, userSetParts } from '../../compiler/user-set.js';
import { userResource } from '../domain/environment.js';
import type { LoggedEntry, LoggedName, WantedChanges } from '../store/history/logged-since.js';
import { instanceParts } from '../wire/common.js';
import type { DraftChange, DraftKind } from '../wire/general/draft.js';

/** Maps draft changes to object names in the change log. */

type ChangeOfKind<K extends DraftKind> = Extract<DraftChange, { readonly kind: K }>;

/** A change log search for the entries about a draft change. */
export interface LoggedNames extends WantedChanges {
	/**
	 * Returns true if a matching entry is really about the change. Needed because some names in the log are ambiguous.
	 */
	readonly isAbout: (entry: LoggedEntry) => boolean;
}

/** Returns the log names of the changed object and of the objects the change depends on. */
export function loggedNames(change: DraftChange): LoggedNames {
	// Each function in the table receives only changes with its own kind.
	const named = (names as Readonly<Record<DraftKind, (change: DraftChange) => Partial<LoggedNames>>>)[change.kind];
	return { objects: [], within: [], deleted: [], isAbout: () => true, ...named(change) };
}

const names: { readonly [K in DraftKind]: (change: ChangeOfKind<K>) => Partial<LoggedNames> } = {
	resource: ({ key, operation }) => ({
		objects: [{ kind: 'resource', key }],
		// User attributes are separate objects. If the resource is deleted, all objects deleted with it must also be
		// unchanged.
		within: [
			{ kind: 'resource_action' as const, resource: key },
			...(key === userResource.key ? [] : [{ kind: 'resource_attribute' as const, resource: key }]),
			...(operation === 'delete'
				? (['relation', 'action_group', 'role'] as const).map((kind) => ({ kind, resource: key }))
				: []),
		],
	}),
	relation: ({ key }) => ofResource({ kind: 'relation', key }),
	action_group: ({ key }) => ofResource({ kind: 'action_group', key }),
	resource_role: ({ key }) => ofResource({ kind: 'role', key }),
	user_attribute: ({ key }) => ({ objects: [{ kind: 'resource_attribute', key: `${userResource.key}:${key}` }] }),
	role: ({ key }) => ({ objects: [{ kind: 'role', key }] }),
	condition_set: ({ key }) => ({ objects: [{ kind: 'condition_set', key }] }),
	condition_set_rule: ({ value: { user_set, permission, resource_set } }) => {
		const { resource = '', key: action = '' } = instanceParts(permission) ?? {};
		const joined = [user_set, resource, action, resource_set];
		return {
			objects: [{ kind: 'condition_set_rule', key: `${user_set}_can_${resource}_${action}_${resource_set}` }],
			isAbout: ({ rule }) => JSON.stringify(rule) === JSON.stringify(joined),
		};
	},
	elements_config: ({ key }) => ({ objects: [{ kind: 'elements_config', key }] }),
	check_test: ({ key }) => ({ objects: [{ kind: 'check_test', key }] }),
	tenant: ({ key }) => ({ objects: [{ kind: 'tenant', key }] }),
	user: ({ key }) => ({ objects: [{ kind: 'user', key }] }),
	tenant_user: ({ value: { user, tenant } }) => ({ objects: [{ kind: 'tenant_user', key: `${user}@${tenant}` }] }),
	resource_instance: ({ key }) => ofResource({ kind: 'resource_instance', key }),
	group: ({ key }) => {
		const { objects = [], deleted = [] } = ofResource({ kind: 'group', key });
		return { objects, deleted: [...deleted, { kind: 'resource_instance', key }] };
	},
	made_for_groups: ({ value: { resource, role, relation } }) => {
		if (role !== null) return ofResource({ kind: 'role', key: `${resource}:${role}` });
		if (relation !== null) return ofResource({ kind: 'relation', key: `${resource}:${relation}` });
		return { objects: [{ kind: 'resource', key: resource }] };
	},
	relationship_tuple: ({ value: { subject, relation, object, condition } }) => ({
		objects: [{ kind: 'relationship_tuple', key: `${object}#${relation}@${subject}${under(condition)}` }],
	}),
	role_assignment: ({ value: { user, role, tenant, resource_instance, condition } }) => {
		const set = userSetParts(user);
		if (set === null) {
			const key = `${user}#${role}@${resource_instance ?? tenant}${under(condition)}`;
			return { objects: [{ kind: 'role_assignment', key }] };
		}
		const key = `${resource_instance}#${setRelationKey(role, set)}@${set.instance}`;
		return { objects: [{ kind: 'relationship_tuple', key }] };
	},
	user_invite: ({ key }) => ({ objects: [{ kind: 'user_invite', key }] }),
};

function under(condition: { readonly set: string } | null): string {
	return condition === null ? '' : ` under ${condition.set}`;
}

/** Returns the log names for an object in a resource, which is deleted together with the resource. */
function ofResource(name: LoggedName): Partial<LoggedNames> {
	const { resource = '' } = instanceParts(name.key) ?? {};
	return { objects: [name], deleted: [{ kind: 'resource', key: resource }] };
}
