import type { Draft } from '../draft/draft.js';
import { isRecord } from '../equal-json.js';
import { automaticPrefix } from '../matrix/policy-schema.js';
import { draftedObjects, type SchemaObject, type SchemaObjects } from '../matrix/schema-objects.js';
import { listMember, recordMember, type Value, withDerivations, withList } from '../matrix/value-members.js';

/**
 * Applies a draft to the stored schema. Like the server, deletes the dependents of deleted objects, and removes
 * references to deleted objects.
 */
export function draftedSchema(stored: SchemaObjects, draft: Draft | null): SchemaObjects {
	return draft === null ? stored : withoutDependents(stored, draftedObjects(stored, draft));
}

/** Removes references from `after` to objects that exist in `before` and not in `after`. */
export function withoutDependents(before: SchemaObjects, after: SchemaObjects): SchemaObjects {
	const known = referenceNames(before);
	const ownersGone = difference(known, referenceNames(after));
	if (ownersGone.size === 0) return after;
	const left = new Map([...after].filter(([, object]) => !ownerNames(object).some((name) => ownersGone.has(name))));
	const gone = difference(known, referenceNames(left));
	for (const [subject, object] of left) {
		if (object.kind === 'condition_set_rule') {
			if (ruleReferences(object.value).some((name) => gone.has(name))) left.delete(subject);
			continue;
		}
		const value = withoutReferences(object, gone);
		if (value !== object.value) left.set(subject, { ...object, value });
	}
	return left;
}

function difference(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
	return new Set([...some].filter((name) => !others.has(name)));
}

/** Returns the names by which an object can refer to one of `objects`. */
function referenceNames(objects: SchemaObjects): ReadonlySet<string> {
	const names = new Set<string>();
	for (const { kind, key = '', value } of objects.values()) {
		if (!isRecord(value)) continue;
		// A relation from a different resource is a different relation.
		names.add(kind === 'relation' ? `relation ${key} ${value['subject_resource']}` : `${kind} ${key}`);
		if (kind !== 'resource') continue;
		for (const action of Object.keys(recordMember(value, 'actions'))) names.add(`action ${key}:${action}`);
	}
	return names;
}

/** Returns the names of the resources with which an object is deleted. */
function ownerNames({ kind, key = '', value }: SchemaObject): readonly string[] {
	const resource = isRecord(value) ? value['resource'] : undefined;
	const subject = isRecord(value) ? value['subject_resource'] : undefined;
	const [owner = ''] = key.split(':');
	if (kind === 'relation') return [`resource ${owner}`, `resource ${subject}`];
	if (kind === 'resource_role' || kind === 'action_group') return [`resource ${owner}`];
	return kind === 'condition_set' && typeof resource === 'string' ? [`resource ${resource}`] : [];
}

function ruleReferences(rule: unknown): readonly string[] {
	if (!isRecord(rule)) return [];
	const { user_set, permission, resource_set } = rule;
	const set = (key: string, automatic: string) =>
		key.startsWith(automaticPrefix) ? `${automatic} ${key.slice(automaticPrefix.length)}` : `condition_set ${key}`;
	return [set(String(user_set), 'role'), `action ${permission}`, set(String(resource_set), 'resource')];
}

/** Returns an object's value without references to deleted objects; the same value if it has none. */
function withoutReferences({ kind, key = '', value }: SchemaObject, gone: ReadonlySet<string>): unknown {
	if (!isRecord(value)) return value;
	const [owner = ''] = key.split(':');
	const keep = (holder: Value, name: string, reference: (item: unknown) => string): Value => {
		const list = listMember(holder, name);
		const next = list.filter((item) => !gone.has(reference(item)));
		return next.length === list.length ? holder : withList(holder, name, next);
	};
	if (kind === 'action_group') return keep(value, 'actions', (action) => `action ${owner}:${action}`);
	if (kind === 'role') {
		const granting = keep(value, 'permissions', (permission) => `action ${permission}`);
		return keep(granting, 'extends', (role) => `role ${role}`);
	}
	if (kind !== 'resource_role') return value;
	const granting = keep(value, 'permissions', (action) => `action ${owner}:${action}`);
	const extending = keep(granting, 'extends', (role) => `resource_role ${owner}:${role}`);
	const block = recordMember(extending, 'granted_to');
	const isOfRole = (rule: unknown) => (isRecord(rule) ? `resource_role ${rule['on_resource']}:${rule['role']}` : '');
	const isLinked = (rule: unknown) =>
		isRecord(rule) ? `relation ${owner}:${rule['linked_by_relation']} ${rule['on_resource']}` : '';
	const held = keep(keep(block, 'users_with_role', isOfRole), 'users_with_role', isLinked);
	return held === block ? extending : withDerivations(extending, listMember(held, 'users_with_role'));
}
