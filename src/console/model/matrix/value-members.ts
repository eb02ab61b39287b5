import { isEqualJson, isRecord } from '../equal-json.js';

/** Object in a document's format. */
export type Value = Readonly<Record<string, unknown>>;

/** Returns a list field; an empty list if it is absent. */
export function listMember(value: Value, name: string): readonly unknown[] {
	const list = value[name];
	return Array.isArray(list) ? list : [];
}

/** Returns the strings in a list field. */
export function textsMember(value: Value, name: string): readonly string[] {
	return listMember(value, name).filter((text) => typeof text === 'string');
}

/** Returns a text field; an empty string if it is absent. */
export function textMember(value: Value, name: string): string {
	const text = value[name];
	return typeof text === 'string' ? text : '';
}

/** Returns an object field; an empty object if it is absent. */
export function recordMember(value: Value, name: string): Value {
	const record = value[name];
	return isRecord(record) ? record : {};
}

/** Sets a list as a value's field. Omits an empty list, because documents omit it too. */
export function withList(value: Value, name: string, list: readonly unknown[]): Value {
	if (list.length > 0) return { ...value, [name]: list };
	const { [name]: _, ...rest } = value;
	return rest;
}

/** Sorts known items by their position in `known`, and appends the new items. */
export function inKnownOrder(items: readonly unknown[], known: readonly unknown[]): readonly unknown[] {
	const isIn = (list: readonly unknown[]) => (item: unknown) => list.some((one) => isEqualJson(one, item));
	const isKnown = isIn(known);
	return [...known.filter(isIn(items)), ...items.filter((item) => !isKnown(item))];
}

/** Sets a role's derivations. Omits a block that contains neither rules nor settings, because it derives nothing. */
export function withDerivations(value: Value, rules: readonly unknown[]): Value {
	const { granted_to: _, ...rest } = value;
	const block = withList(recordMember(value, 'granted_to'), 'users_with_role', rules);
	return Object.keys(block).length === 0 ? rest : { ...rest, granted_to: block };
}
