import type { Draft } from '../draft/draft.js';
import { isEqualJson, isRecord } from '../equal-json.js';
import { draftedSchema } from '../schema/drafted-schema.js';
import { columnRole, type MatrixAction, type MatrixColumn } from './policy-matrix.js';
import type { Derivation, SetRule } from './policy-schema.js';
import { type SchemaObject, type SchemaObjects, subjectName, withObject, withoutObject } from './schema-objects.js';
import { inKnownOrder, listMember, recordMember, type Value, withDerivations, withList } from './value-members.js';

/**
 * Matrix edits. Each returns the resulting draft. An edit compares the drafted object with the stored object, so
 * undoing the edit removes the change from the draft.
 */

/** Toggles a role's own grant for an action. */
export function toggleGrant(stored: SchemaObjects, draft: Draft, column: MatrixColumn, place: MatrixAction): Draft {
	const permission = column.resource === null ? `${place.resource}:${place.action}` : place.action;
	return editRole(stored, draft, columnName(column), (value, before) =>
		withList(
			value,
			'permissions',
			toggled(listMember(value, 'permissions'), listMember(before, 'permissions'), permission),
		),
	);
}

/** Toggles a rule between two sets. */
export function toggleRule(stored: SchemaObjects, draft: Draft, rule: SetRule): Draft {
	const { user_set, permission, resource_set } = rule;
	const object = { kind: 'condition_set_rule', value: { user_set, permission, resource_set } };
	const isThere = draftedSchema(stored, draft).has(subjectName(object));
	return isThere ? withoutObject(stored, draft, object) : withObject(stored, draft, object);
}

/** Toggles a resource role's derivation. The role is `<resource>:<role>`. */
export function toggleDerivation(stored: SchemaObjects, draft: Draft, role: string, derivation: Derivation): Draft {
	return editRole(stored, draft, { kind: 'resource_role', key: role }, (value, before) => {
		const rules = listMember(recordMember(value, 'granted_to'), 'users_with_role');
		const isIt = (rule: unknown) => isDerivation(rule, derivation);
		const known = listMember(recordMember(before, 'granted_to'), 'users_with_role');
		const { role: source, on_resource, linked_by_relation } = derivation;
		const made = known.find(isIt) ?? { role: source, on_resource, linked_by_relation };
		const next = rules.some(isIt) ? rules.filter((rule) => !isIt(rule)) : inKnownOrder([...rules, made], known);
		const edited = withDerivations(value, next);
		// Keep an empty block that is stored, so that reverting the edit leaves no change in the draft.
		return isEqualJson(before['granted_to'], {}) ? { granted_to: {}, ...edited } : edited;
	});
}

/** Edits a role's value in the draft. Ignores a role that is neither stored nor in the draft. */
function editRole(
	stored: SchemaObjects,
	draft: Draft,
	name: { readonly kind: string; readonly key: string },
	edit: (value: Value, before: Value) => Value,
): Draft {
	const subject = subjectName({ ...name, value: null });
	const value = draftedSchema(stored, draft).get(subject)?.value;
	const before = stored.get(subject)?.value;
	if (!isRecord(value)) return draft;
	const wanted: SchemaObject = { ...name, value: edit(value, isRecord(before) ? before : {}) };
	return withObject(stored, draft, wanted);
}

function columnName(column: MatrixColumn): { readonly kind: string; readonly key: string } {
	return { kind: column.resource === null ? 'role' : 'resource_role', key: columnRole(column) };
}

/** Adds an item to a list in the order of `known`, or removes it from the list. */
function toggled(items: readonly unknown[], known: readonly unknown[], item: unknown): readonly unknown[] {
	return items.includes(item) ? items.filter((one) => one !== item) : inKnownOrder([...items, item], known);
}

function isDerivation(rule: unknown, { role, on_resource, linked_by_relation }: Derivation): boolean {
	return (
		isRecord(rule) &&
		rule['role'] === role &&
		rule['on_resource'] === on_resource &&
		rule['linked_by_relation'] === linked_by_relation
	);
}
